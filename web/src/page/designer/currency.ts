/** Amounts of money: a number, and a currency in front of it where the reader has named one. Nothing is converted. */
import { gap, groupThousands } from "../../base/format.ts";

/** Currencies that are offered; the first is none. */
export const currencies = ["", "€", "$", "£", "¥", "CHF"] as const;

/** The currency of a link, if it is one that is offered; none otherwise. */
export function currencyOf(name: string | undefined): string {
  return currencies.find((offered) => offered === name) ?? "";
}

/** An amount to the nearest whole unit. */
export function amount(value: number, currency: string): string {
  const digits = groupThousands(Math.round(value));
  if (currency === "") return digits;
  return currency.length === 1 ? `${currency}${digits}` : `${currency}${gap}${digits}`;
}
