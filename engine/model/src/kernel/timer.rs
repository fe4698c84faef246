//! Timers of layers: each layer has an enumeration of its own, which packs into the two fields that an event has room for.

/// A value that fits into the word of a timer.
pub trait Word: Copy {
    /// As a word.
    fn to_word(self) -> u32;
    /// From the word that [`Word::to_word`] gave.
    fn from_word(word: u32) -> Self;
}

impl Word for u32 {
    #[inline]
    fn to_word(self) -> u32 {
        self
    }
    #[inline]
    fn from_word(word: u32) -> Self {
        word
    }
}

impl Word for u16 {
    #[inline]
    fn to_word(self) -> u32 {
        self.into()
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // as it was packed
    fn from_word(word: u32) -> Self {
        word as u16
    }
}

impl Word for (u16, u16) {
    #[inline]
    fn to_word(self) -> u32 {
        u32::from(self.0) << 16 | u32::from(self.1)
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // as it was packed
    fn from_word(word: u32) -> Self {
        ((word >> 16) as u16, word as u16)
    }
}

/// A timer as an event carries it: the number of its kind in the layer's enumeration, and what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Number of the kind.
    pub kind: u8,
    /// Meaning of the timer for its owner.
    pub word: u32,
}

/// A layer's own timers. Made by [`timers!`](crate::timers).
pub trait Timer: Copy {
    /// As an event carries it.
    fn pack(self) -> Packed;
    /// From what [`Timer::pack`] gave.
    fn unpack(packed: Packed) -> Self;
}

/// Declares a layer's timers: an enumeration whose variants carry at most one [`Word`].
///
/// ```
/// # use seeklab_model::timers;
/// timers! {
///     /// Timers of a group of pumps.
///     pub enum Pump {
///         /// All are looked at.
///         Inspect,
///         /// One of them runs dry.
///         Dry(u16),
///     }
/// }
/// # use seeklab_model::kernel::Timer;
/// assert!(matches!(Pump::unpack(Pump::Dry(7).pack()), Pump::Dry(7)));
/// ```
#[macro_export]
macro_rules! timers {
    ($(#[$about:meta])* $visibility:vis enum $name:ident { $($(#[$of:meta])* $variant:ident $(($payload:ty))?,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        $visibility enum $name { $($(#[$of])* $variant $(($payload))?,)+ }

        const _: () = {
            #[repr(u8)]
            enum Kind { $($variant,)+ }

            impl $crate::kernel::Timer for $name {
                #[inline]
                fn pack(self) -> $crate::kernel::Packed {
                    match self {
                        $($crate::timers!(@pattern $name $variant word $($payload)?) => $crate::kernel::Packed {
                            kind: Kind::$variant as u8,
                            word: $crate::timers!(@word word $($payload)?),
                        },)+
                    }
                }
                #[inline]
                fn unpack(packed: $crate::kernel::Packed) -> Self {
                    $(if packed.kind == Kind::$variant as u8 {
                        return $crate::timers!(@value $name $variant packed $($payload)?);
                    })+
                    unreachable!("a timer of another layer: {packed:?}")
                }
            }
        };
    };
    (@pattern $name:ident $variant:ident $word:ident $payload:ty) => { $name::$variant($word) };
    (@pattern $name:ident $variant:ident $word:ident) => { $name::$variant };
    (@word $word:ident $payload:ty) => { <$payload as $crate::kernel::Word>::to_word($word) };
    (@word $word:ident) => { 0 };
    (@value $name:ident $variant:ident $packed:ident $payload:ty) => {
        $name::$variant(<$payload as $crate::kernel::Word>::from_word($packed.word))
    };
    (@value $name:ident $variant:ident $packed:ident) => { $name::$variant };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::RequestId;

    crate::timers! {
        #[derive(PartialEq)]
        enum Example {
            Plain,
            About(RequestId),
            Ring((u16, u16)),
        }
    }

    #[test]
    fn a_timer_is_unpacked_as_it_was_packed() {
        for timer in [Example::Plain, Example::About(RequestId(u32::MAX)), Example::Ring((3, 65_535)), Example::Ring((65_535, 0))] {
            assert_eq!(Example::unpack(timer.pack()), timer);
        }
    }
}
