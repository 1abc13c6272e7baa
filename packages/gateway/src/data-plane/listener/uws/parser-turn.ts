/** Above 0 while uWS has called us: its parser is on the stack. */
let depth = 0

/** Runs what uWS calls with its parser on the stack, so that an answer given inside knows of it. */
export function enterParser(): void {
  depth++
}

/** To be called also when the work has thrown: answers wait until the parser has been left. */
export function leaveParser(): void {
  depth--
}

export function isParserOnStack(): boolean {
  return depth > 0
}
