const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

/** A time in UTC (SAML Core, section 1.3.3), ms since 1970; NaN: it is none. */
export function parseTime(text: string): number {
  return TIME.test(text) ? Date.parse(text) : Number.NaN
}
