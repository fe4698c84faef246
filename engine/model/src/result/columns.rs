//! Tables of a run as columns of numbers, the form in which they cross to other hosts.
//!
//! A table is declared once, beside the layer that keeps its rows: a column's name, its type, and how it is taken from a row.
//!
//! ```
//! # use seeklab_model::result::columns::{self, Column, Table, Take::{Index, Real, Whole}};
//! struct Row { disk: u32, bytes: u64, seconds: f64 }
//! const DISKS: Table<Row> = Table::new(
//!     "disks",
//!     &[("index", Index(|row| row.disk)), ("bytes", Whole(|row| row.bytes)), ("seconds", Real(|row| row.seconds))],
//! );
//! let column = columns::column("disks.bytes", |tables| tables.table(&DISKS, [Row { disk: 0, bytes: 512, seconds: 0.1 }]));
//! assert_eq!(column, Some(Column::F64(vec![512.0])));
//! ```
//!
//! Names and columns come from the same report of all tables to [`Tables`], so that neither has what the other lacks.

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; nanoseconds and bytes are whole and below 2^53.
    F64(Vec<f64>),
    /// Indices and counts.
    U32(Vec<u32>),
}

impl Column {
    /// The element type's name.
    #[must_use]
    pub fn dtype(&self) -> &'static str {
        match self {
            Self::F64(_) => "f64",
            Self::U32(_) => "u32",
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U32(values) => values.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column of these values, which are indices or other numbers.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // indices were `u32`
    fn of(values: Vec<f64>, are_indices: bool) -> Self {
        if are_indices { Self::U32(values.into_iter().map(|value| value as u32).collect()) } else { Self::F64(values) }
    }

    /// A column of whole numbers below 2^53: bytes, nanoseconds, large counts.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // below 2^53
    pub fn of_whole(values: impl Iterator<Item = u64>) -> Self {
        Self::F64(values.map(|value| value as f64).collect())
    }
}

/// How a column is taken from a row.
pub enum Take<R> {
    /// A whole number below 2^53; the column is of `f64`.
    Whole(fn(&R) -> u64),
    /// Any number; the column is of `f64`.
    Real(fn(&R) -> f64),
    /// An index or a small count; the column is of `u32`.
    Index(fn(&R) -> u32),
}

impl<R> Take<R> {
    #[allow(clippy::cast_precision_loss)] // below 2^53
    fn value(&self, row: &R) -> f64 {
        match self {
            Self::Whole(value) => value(row) as f64,
            Self::Real(value) => value(row),
            Self::Index(value) => f64::from(value(row)),
        }
    }
}

/// A table: its name and its columns, in order.
pub struct Table<R: 'static> {
    name: &'static str,
    columns: &'static [(&'static str, Take<R>)],
}

impl<R> Table<R> {
    /// Declares a table.
    ///
    /// # Panics
    /// When two columns have the same name: a declaration as a constant is then refused by the compiler.
    #[must_use]
    pub const fn new(name: &'static str, columns: &'static [(&'static str, Take<R>)]) -> Self {
        let mut second = 1;
        while second < columns.len() {
            let mut first = 0;
            while first < second {
                assert!(!same(columns[first].0, columns[second].0), "two columns of a table have the same name");
                first += 1;
            }
            second += 1;
        }
        Self { name, columns }
    }
}

/// Whether two texts are the same, for the compiler.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The sink that all tables are reported to. It collects the names of all columns, or makes the one that it is asked for.
#[derive(Default)]
pub struct Tables<'a> {
    /// Table and column that are asked for; `None` when names are collected.
    asked: Option<(&'a str, &'a str)>,
    names: Vec<String>,
    found: Option<Column>,
}

impl Tables<'_> {
    /// A table and its rows, which are made only when one of its columns is asked for.
    pub fn table<R>(&mut self, table: &Table<R>, rows: impl IntoIterator<Item = R>) {
        match self.asked {
            None => table.columns.iter().for_each(|(name, _)| self.collect(table.name, name)),
            Some((asked, column)) if asked == table.name => {
                if let Some((_, take)) = table.columns.iter().find(|(name, _)| *name == column) {
                    // One loop for each table, whatever the type of the column: all of them are in the engine's module.
                    let mut values = Vec::new();
                    rows.into_iter().for_each(|row| values.push(take.value(&row)));
                    self.found = Some(Column::of(values, matches!(take, Take::Index(_))));
                }
            }
            Some(_) => {}
        }
    }

    /// A column of a table that is not kept in rows.
    pub fn column(&mut self, table: &str, name: &str, make: impl FnOnce() -> Column) {
        match self.asked {
            None => self.collect(table, name),
            Some(asked) if asked == (table, name) => self.found = Some(make()),
            Some(_) => {}
        }
    }

    fn collect(&mut self, table: &str, column: &str) {
        self.names.push(format!("{table}.{column}"));
    }
}

/// The names of all columns that `report` reports, `table.column`.
#[must_use]
pub fn names(report: impl FnOnce(&mut Tables)) -> Vec<String> {
    let mut tables = Tables::default();
    report(&mut tables);
    tables.names
}

/// The column of this name, `table.column`, among those that `report` reports.
#[must_use]
pub fn column(name: &str, report: impl FnOnce(&mut Tables)) -> Option<Column> {
    let mut tables = Tables { asked: Some(name.split_once('.')?), ..Tables::default() };
    report(&mut tables);
    tables.found
}

#[cfg(test)]
mod tests {
    use super::Take::{Index, Real, Whole};
    use super::*;

    const PAIRS: Table<(u64, u32)> =
        Table::new("pairs", &[("bytes", Whole(|row| row.0)), ("half", Real(|row| f64::from(row.1) / 2.0)), ("index", Index(|row| row.1))]);

    fn report(tables: &mut Tables) {
        tables.table(&PAIRS, [(512, 3), (1024, 4)]);
        tables.column("single", "value", || Column::U32(vec![7]));
    }

    #[test]
    fn names_and_columns_come_from_one_declaration() {
        assert_eq!(names(report), ["pairs.bytes", "pairs.half", "pairs.index", "single.value"]);
        assert_eq!(column("pairs.bytes", report), Some(Column::F64(vec![512.0, 1024.0])));
        assert_eq!(column("pairs.half", report), Some(Column::F64(vec![1.5, 2.0])));
        assert_eq!(column("pairs.index", report), Some(Column::U32(vec![3, 4])));
        assert_eq!(column("single.value", report), Some(Column::U32(vec![7])));
    }

    #[test]
    fn a_name_that_no_table_has_is_no_column() {
        for name in ["pairs", "pairs.", "pairs.value", "single.bytes", "other.bytes", ".bytes", "pairs.bytes.bytes"] {
            assert_eq!(column(name, report), None, "{name}");
        }
    }

    #[test]
    fn rows_are_made_only_for_a_column_that_is_asked_for() {
        let untouched = || std::iter::once_with(|| -> (u64, u32) { panic!("nobody asked") });
        assert_eq!(names(|tables| tables.table(&PAIRS, untouched())).len(), 3);
        assert_eq!(column("pairs.nothing", |tables| tables.table(&PAIRS, untouched())), None);
    }

    #[test]
    #[should_panic(expected = "two columns of a table have the same name")]
    fn a_table_with_two_columns_of_the_same_name_is_refused() {
        let _ = Table::<u64>::new("twice", &[("bytes", Whole(|row| *row)), ("ios", Whole(|row| *row)), ("bytes", Whole(|row| *row))]);
    }
}
