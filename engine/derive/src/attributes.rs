//! What serde's attributes say about reading.
//!
//! Of a type: `deny_unknown_fields`, `default`, `rename_all`, `try_from` and `from`; of a field: `default`, with a function or without,
//! and `rename`; of a variant: `rename`. Those that only writing heeds are passed over. Any other is refused: what is not read here
//! would be read wrong.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, ExprPath, LitStr, Result, Type};

/// Where a field comes from that is not written.
#[derive(Default)]
pub enum Missing {
    /// It must be there.
    #[default]
    Refused,
    /// Its type's default.
    Default,
    /// A function's value.
    Function(ExprPath),
}

/// Attributes of a type, a field or a variant.
#[derive(Default)]
pub struct Attributes {
    /// Another name than its own.
    pub rename: Option<String>,
    /// How the names of fields or variants follow from their own.
    pub rename_all: Case,
    /// What stands in for what is missing.
    pub missing: Missing,
    /// Whether a field that nobody knows is an error.
    pub deny_unknown: bool,
    /// Whether variants are written without their names, which only another type in its place can read.
    pub untagged: bool,
    /// A type that is read in its place, and may turn out not to fit.
    pub try_from: Option<Type>,
    /// A type that is read in its place.
    pub from: Option<Type>,
}

impl Attributes {
    /// Reads the attributes.
    ///
    /// # Errors
    /// One that is not known here.
    pub fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut found = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| found.add(&meta))?;
        }
        Ok(found)
    }

    fn add(&mut self, meta: &ParseNestedMeta) -> Result<()> {
        let text = || meta.value()?.parse::<LitStr>();
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "deny_unknown_fields" => self.deny_unknown = true,
            "default" if meta.input.peek(syn::Token![=]) => self.missing = Missing::Function(text()?.parse()?),
            "default" => self.missing = Missing::Default,
            "rename" => self.rename = Some(text()?.value()),
            "rename_all" => self.rename_all = Case::of(&text()?)?,
            "try_from" => self.try_from = Some(text()?.parse()?),
            "from" => self.from = Some(text()?.parse()?),
            "untagged" => self.untagged = true,
            "skip_serializing_if" | "serialize_with" | "into" => drop(text()?),
            _ => return Err(meta.error(format!("FromJson does not read `{name}`"))),
        }
        Ok(())
    }
}

/// How names are written.
#[derive(Clone, Copy, Default)]
pub enum Case {
    /// As they are.
    #[default]
    Own,
    /// `likethis`.
    Lower,
    /// `like-this`.
    Kebab,
    /// `like_this`.
    Snake,
}

impl Case {
    fn of(text: &LitStr) -> Result<Self> {
        match text.value().as_str() {
            "lowercase" => Ok(Self::Lower),
            "kebab-case" => Ok(Self::Kebab),
            "snake_case" => Ok(Self::Snake),
            other => Err(Error::new(text.span(), format!("FromJson does not write names in {other:?}"))),
        }
    }

    /// A variant's name, which is written `LikeThis` in Rust.
    #[must_use]
    pub fn variant(self, name: &str) -> String {
        let apart = |between: &str| {
            let parts = name.char_indices().map(|(index, letter)| {
                let before = if letter.is_uppercase() && index > 0 { between } else { "" };
                format!("{before}{}", letter.to_lowercase())
            });
            parts.collect()
        };
        match self {
            Self::Own => name.to_owned(),
            Self::Lower => apart(""),
            Self::Kebab => apart("-"),
            Self::Snake => apart("_"),
        }
    }

    /// A field's name, which is written `like_this` in Rust.
    #[must_use]
    pub fn field(self, name: &str) -> String {
        match self {
            Self::Own | Self::Lower | Self::Snake => name.to_owned(),
            Self::Kebab => name.replace('_', "-"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_as_they_do_with_serde() {
        for (case, variant, field) in [
            (Case::Own, "S3Fifo", "is_on"),
            (Case::Lower, "s3fifo", "is_on"),
            (Case::Kebab, "s3-fifo", "is-on"),
            (Case::Snake, "s3_fifo", "is_on"),
        ] {
            assert_eq!((case.variant("S3Fifo"), case.field("is_on")), (variant.to_owned(), field.to_owned()));
        }
    }
}
