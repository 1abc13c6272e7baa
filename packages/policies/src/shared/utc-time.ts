/** xsd:dateTime in UTC. White space around it does not count (XML Schema Datatypes 4.3.6). */
const UTC_TIME = /^[ \t\r\n]*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)[ \t\r\n]*$/

/** Returns a time in UTC in ms since 1970 (SAML Core, section 1.3.3; WS-Security, section 10), or NaN for anything else. */
export function parseTime(text: string): number {
  return Date.parse(UTC_TIME.exec(text)?.[1] ?? '')
}
