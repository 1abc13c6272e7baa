/** Greater than 0 while the uWS parser is on the stack. */
let depth = 0

/** Called at the start of each uWS callback, so that responses inside it can be delayed. */
export function enterParser(): void {
  depth++
}

/** Called at the end of each uWS callback, even after an exception. Responses wait until then. */
export function leaveParser(): void {
  depth--
}

/** Returns true while the uWS parser is on the stack. */
export function isParserOnStack(): boolean {
  return depth > 0
}
