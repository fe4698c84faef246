//! Enumerations whose variants have numbers and names that hosts know.

/// Declares an enumeration: each variant with the name by which hosts know it. The numbers follow the order.
///
/// ```
/// seeklab_model::named! {
///     /// Ways to wait.
///     pub enum Wait {
///         /// For a lock.
///         Lock = "lock",
///         /// For a core.
///         Core = "cpu_wait",
///     }
/// }
/// assert_eq!(Wait::ALL.map(Wait::name), ["lock", "cpu_wait"]);
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $visibility:vis enum $name:ident { $($(#[$of:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        $visibility enum $name { $($(#[$of])* $variant,)+ }

        impl $name {
            /// All of them, in the order of their numbers.
            $visibility const ALL: [Self; [$($text,)+].len()] = [$(Self::$variant,)+];

            /// The name by which hosts know it.
            #[must_use]
            $visibility const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}
