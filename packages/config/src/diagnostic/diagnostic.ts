/** An error or warning about a document. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  /** Rule of `gw lint` that a warning belongs to. */
  readonly rule?: string
  readonly file: string
  /** Line, starting at 1. */
  readonly line: number
  /** Column, starting at 1, in UTF-16 units. */
  readonly column: number
  /** Path in the document, such as `routes[0].match.path`; empty for the whole document. */
  readonly path: string
  /** Description of the problem. Never contains the value of a reference or secret. */
  readonly message: string
  readonly remedy: string
  /** Set if the problem depends on the machine, such as an unset variable or a missing file. */
  readonly ofMachine?: true
}

/** Formats a diagnostic as `F:line:column: message (remedy)`, as all commands print it. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, message, remedy } = diagnostic
  const label = diagnostic.severity === 'warning' ? 'warning: ' : ''
  return `${file}:${line}:${column}: ${label}${message} (${remedy})`
}

/** Compares diagnostics by position, then errors before warnings. */
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
