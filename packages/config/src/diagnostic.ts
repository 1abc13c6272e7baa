/** One mistake, or one warning, in a document. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
  /** Where in the document, `routes[0].match.path`; empty for the whole. */
  readonly path: string
  /** What is wrong. Never holds the value of a reference or of a secret. */
  readonly message: string
  /** What to do about it. */
  readonly remedy: string
  /** It is wrong on this machine, and may not be on another: a variable is not set, a file is not there. */
  readonly ofMachine?: true
}

/** `F:line:column: message (remedy)`, the form every command prints. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, message, remedy } = diagnostic
  const label = diagnostic.severity === 'warning' ? 'warning: ' : ''
  return `${file}:${line}:${column}: ${label}${message} (${remedy})`
}

/** Orders diagnostics by position, errors before warnings of the same position. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    a.line - b.line ||
    a.column - b.column ||
    compareText(a.severity, b.severity) ||
    compareText(a.message, b.message)
  )
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
