/** What was measured, as its repository knows it. */
export interface SourceState {
  /** The hash of the commit. */
  readonly commit: string
  /** Whether files of the repository were changed since. Files that it does not know do not count. */
  readonly isDirty: boolean
}

/** How a machine is set up, as far as it changes figures; null: the system does not tell. */
export interface MachineSettings {
  /** How the clock of the cores is chosen, such as `performance`. */
  readonly governor: string | null
  /** Whether the clock may rise above its nominal rate as long as heat allows. */
  readonly turbo: boolean | null
  /** The threads of each core that this process may use, such as `0,4`; one core an entry. */
  readonly siblings: readonly string[]
  /** Files and sockets that a process may have open; null: any number. */
  readonly openFiles: number | null
  /** `always`, `madvise` or `never`. */
  readonly transparentHugePages: string | null
}

/** What the control groups (cgroups) around the benchmark allow it; null: all there is. */
export interface GroupLimits {
  /** CPU time a second, in cores. */
  readonly cpus: number | null
  /** The cores, as the kernel writes lists: `0-3,8`. */
  readonly cpuset: string | null
  readonly memoryBytes: number | null
}

/** The configuration that a gateway served in a scenario. */
export interface DocumentDigest {
  /** SHA-256 of its document without ports and folders, which differ from run to run: the same document, the same digest. */
  readonly sha256: string
  /** What the gateway itself calls the plan that it served (`digest` of `GET /v1/status`). */
  readonly plan: string | null
}
