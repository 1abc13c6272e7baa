/** Fields of an entry: JSON values, never secrets. */
type LogFields = Readonly<Record<string, unknown>>

/** Log for operators, in the form of the gateway's: one JSON object per line. */
export interface OperationLog {
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

/** Creates a log that writes to stderr. */
export function stderrLog(): OperationLog {
  const entry =
    (level: string) =>
    (event: string, fields: LogFields = {}) => {
      process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`)
    }
  return { info: entry('info'), warn: entry('warn'), error: entry('error') }
}
