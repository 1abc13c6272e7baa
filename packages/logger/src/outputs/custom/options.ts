/** An output that somebody else has written. */
export interface CustomOptions {
  /** The name of a package, or the path of a module that begins with `.` or `/`. */
  readonly module: string
  /** The directory from which both are looked up. */
  readonly from: string
  /** Handed to the module as they are. */
  readonly options: Readonly<Record<string, unknown>>
}
