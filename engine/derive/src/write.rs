//! The code that reads a type.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, Result, Variant};

use crate::attributes::{Attributes, Missing};

const GENERIC_TYPE: &str = "FromJson reads no generic types";
const UNION: &str = "FromJson reads no unions";
const UNNAMED_FIELDS: &str = "FromJson reads structs with named fields";
const UNTAGGED: &str = "FromJson reads no variants without names";
const VARIANT_WITH_FIELDS: &str = "FromJson reads enums whose variants are names only";
const EMPTY_ENUM: &str = "FromJson reads no empty enums";

/// Implements both traits for a type.
///
/// # Errors
/// An attribute that is not known, or a type that is neither a struct with named fields nor an enum of names.
pub fn implementation(input: &DeriveInput) -> Result<TokenStream> {
    if let Some(generic) = input.generics.params.first() {
        return Err(Error::new_spanned(generic, GENERIC_TYPE));
    }
    let name = &input.ident;
    let attributes = Attributes::of(&input.attrs)?;
    let read = if let Some(other) = &attributes.try_from {
        quote!(<#other as FromJson>::from_json(value).and_then(|read| Self::try_from(read).map_err(Fault::new)))
    } else if let Some(other) = &attributes.from {
        quote!(<#other as FromJson>::from_json(value).map(Self::from))
    } else {
        match &input.data {
            Data::Struct(data) => fields(name, &attributes, &data.fields)?,
            Data::Enum(data) => names(name, &attributes, data.variants.iter())?,
            Data::Union(_) => return Err(Error::new_spanned(name, UNION)),
        }
    };
    Ok(quote! {
        const _: () = {
            use ::seeklab_spec::reader::{Fault, FromJson, Object};

            impl FromJson for #name {
                fn from_json(value: &::serde_json::Value) -> ::core::result::Result<Self, Fault> {
                    #read
                }
            }

            impl<'de> ::serde::Deserialize<'de> for #name {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                    let value: ::serde_json::Value = ::serde::Deserialize::deserialize(deserializer)?;
                    FromJson::from_json(&value).map_err(::serde::de::Error::custom)
                }
            }
        };
    })
}

/// Reads a struct: each field into a variable, then all of them into the struct, so that there is one way out for what is wrong.
fn fields(name: &Ident, of_type: &Attributes, fields: &Fields) -> Result<TokenStream> {
    let Fields::Named(fields) = fields else {
        return Err(Error::new_spanned(name, UNNAMED_FIELDS));
    };
    let (mut names, mut own, mut read, mut needed, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let others = matches!(of_type.missing, Missing::Default);
    for (index, field) in fields.named.iter().enumerate() {
        let attributes = Attributes::of(&field.attrs)?;
        let ident = field.ident.as_ref().expect("a named field");
        let (variable, kind) = (format_ident!("field{index}"), &field.ty);
        let written = ident.to_string().trim_start_matches("r#").to_owned();
        names.push(attributes.rename.unwrap_or_else(|| of_type.rename_all.field(&written)));
        read.push(match &attributes.missing {
            Missing::Function(function) => quote!(let #variable = object.given::<#kind>(#index).unwrap_or_else(#function);),
            Missing::Default => quote!(let #variable = object.given::<#kind>(#index).unwrap_or_default();),
            Missing::Refused if others => quote!(let #variable = object.given::<#kind>(#index).unwrap_or(others.#ident);),
            Missing::Refused => {
                needed.push(variable.clone());
                quote!(let #variable = object.needed::<#kind>(#index);)
            }
        });
        own.push(ident);
        places.push(variable);
    }
    let (expected, denies) = (format!("struct {name}"), of_type.deny_unknown);
    let others = others.then(|| quote!(let others = <Self as ::core::default::Default>::default();));
    Ok(quote! {
        const NAMES: &[&str] = &[#(#names),*];
        let mut object = Object::of(value, #expected, NAMES, #denies)?;
        #others
        #(#read)*
        match (object.wrong(), #(#needed),*) {
            (None, #(Some(#needed)),*) => Ok(Self { #(#own: #places),* }),
            (wrong, ..) => Err(wrong.unwrap_or_default()),
        }
    })
}

/// Reads an enum whose variants are names.
fn names<'a>(name: &Ident, of_type: &Attributes, variants: impl Iterator<Item = &'a Variant>) -> Result<TokenStream> {
    if of_type.untagged {
        return Err(Error::new_spanned(name, UNTAGGED));
    }
    let (mut names, mut own) = (Vec::new(), Vec::new());
    for variant in variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(variant, VARIANT_WITH_FIELDS));
        }
        let attributes = Attributes::of(&variant.attrs)?;
        names.push(attributes.rename.unwrap_or_else(|| of_type.rename_all.variant(&variant.ident.to_string())));
        own.push(&variant.ident);
    }
    let Some((last, first)) = own.split_last() else {
        return Err(Error::new_spanned(name, EMPTY_ENUM));
    };
    let (places, expected) = (0..first.len(), format!("enum {name}"));
    Ok(quote! {
        const NAMES: &[&str] = &[#(#names),*];
        Ok(match ::seeklab_spec::reader::word(value, #expected, NAMES)? {
            #(#places => Self::#first,)*
            _ => Self::#last,
        })
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn refusal(input: &DeriveInput) -> String {
        implementation(input).expect_err("refused").to_string()
    }

    #[test]
    fn what_would_be_read_wrong_is_refused() {
        for (input, message) in [
            (
                parse_quote!(
                    struct S<T> {
                        a: T,
                    }
                ),
                GENERIC_TYPE,
            ),
            (
                parse_quote!(
                    struct S(u32);
                ),
                UNNAMED_FIELDS,
            ),
            (
                parse_quote!(
                    enum E {
                        A(u32),
                    }
                ),
                VARIANT_WITH_FIELDS,
            ),
            (
                parse_quote!(
                    enum E {}
                ),
                EMPTY_ENUM,
            ),
            (
                parse_quote!(
                    #[serde(untagged)]
                    enum E {
                        A,
                    }
                ),
                UNTAGGED,
            ),
            (parse_quote!(union U { a: u32 }), UNION),
            (
                parse_quote!(
                    #[serde(tag = "kind")]
                    enum E {
                        A,
                    }
                ),
                "`tag`",
            ),
            (
                parse_quote!(
                    struct S {
                        #[serde(flatten)]
                        a: T,
                    }
                ),
                "`flatten`",
            ),
            (
                parse_quote!(
                    struct S {
                        #[serde(skip)]
                        a: T,
                    }
                ),
                "`skip`",
            ),
            (
                parse_quote!(
                    #[serde(rename_all = "UPPERCASE")]
                    enum E {
                        A,
                    }
                ),
                "UPPERCASE",
            ),
        ] {
            assert!(refusal(&input).contains(message), "{message}");
        }
    }

    #[test]
    fn what_another_type_is_read_for_may_look_as_it_likes() {
        for input in [
            parse_quote!(
                #[serde(untagged, try_from = "Value")]
                enum E {
                    A(u32),
                    B { b: u32 },
                }
            ),
            parse_quote!(
                #[serde(from = "Written")]
                struct S {
                    #[serde(flatten)]
                    a: T,
                }
            ),
            parse_quote!(
                #[serde(try_from = "String", into = "String")]
                struct S(u32);
            ),
        ] {
            assert!(implementation(&input).is_ok());
        }
    }
}
