/** xsd:dateTime in UTC. Surrounding white space is ignored (XML Schema Datatypes 4.3.6). */
const UTC_TIME = /^[ \t\r\n]*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)[ \t\r\n]*$/

/**
 * Parses a UTC time to milliseconds since 1970 (SAML Core section 1.3.3, WS-Security section 10). Returns NaN for
 * anything else.
 */
export function parseTime(text: string): number {
  return Date.parse(UTC_TIME.exec(text)?.[1] ?? '')
}
