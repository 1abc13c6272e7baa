import {
  type ProcessRow,
  type ProcessTable,
  processTable,
  rssBytes,
  TICK_MICROS,
  treeIn,
  usedMicros,
} from './process-use.js'

/** User and system time are cut off to whole ticks each, once for the child and once for who asked for its status. */
const ROUNDING_MICROS = 2 * TICK_MICROS

/**
 * Follows a process and all below it from now on. Processes may begin and end meanwhile:
 *
 *     root ── worker A, ended     its time is with the root, which asked for its status
 *       ├──── worker B            lives
 *       └──── worker C, began     lives
 *
 * One that loses its parent is followed further. When it ends, its time goes to somebody else's books, as does that of a
 * child whose parent does not care for it: what the tree has used is not known then.
 */
export class TreeWatch {
  readonly #root: number
  readonly #table: () => ProcessTable
  readonly #usedBefore: number
  #members: ReadonlyMap<number, ProcessRow>
  #lost: number | null = null
  #rssBytes = 0

  constructor(root: number, table: () => ProcessTable = processTable) {
    this.#root = root
    this.#table = table
    this.#members = membersOf(table(), [root])
    this.#usedBefore = this.#used
  }

  /** Call it while there is load: what a process has used since the last look can only be missed if it is lost. */
  look(): void {
    const table = this.#table()
    const before = this.#members
    this.#members = membersOf(table, [
      this.#root,
      ...[...before.keys()].filter((pid) => isSame(pid, table, before)),
    ])
    this.#lost ??= lostProcess(before, this.#members)
    let bytes = 0
    for (const pid of this.#members.keys()) bytes += rssBytes(pid)
    this.#rssBytes = Math.max(this.#rssBytes, bytes)
  }

  /** The largest resident memory of all together that was seen. */
  get rssBytes(): number {
    return this.#rssBytes
  }

  /** User and system time of all of them until the last look; NaN: that of one which has ended is not known. */
  get cpuMicros(): number {
    return this.#lost === null ? this.#used - this.#usedBefore : Number.NaN
  }

  /** The number of a process that has ended and whose time nobody in the tree has; null: there is none. */
  get lost(): number | null {
    return this.#lost
  }

  get #used(): number {
    let sum = 0
    for (const row of this.#members.values()) sum += usedMicros(row)
    return sum
  }
}

function membersOf(table: ProcessTable, roots: Iterable<number>): ReadonlyMap<number, ProcessRow> {
  const members = new Map<number, ProcessRow>()
  for (const pid of treeIn(table, roots)) {
    const row = table.get(pid)
    if (row !== undefined) members.set(pid, row)
  }
  return members
}

function isSame(pid: number, table: ProcessTable, before: ProcessTable): boolean {
  return table.get(pid)?.startedAt === before.get(pid)?.startedAt
}

/** Of the processes that are gone since `before` one whose time its nearest ancestor that lives has not got; null: none. */
function lostProcess(before: ProcessTable, after: ProcessTable): number | null {
  const owed = new Map<number, { readonly pid: number; readonly micros: number }>()
  for (const [pid, row] of before) {
    if (isSame(pid, after, before)) continue
    const heir = heirOf(pid, before, after)
    if (heir === null) return pid
    owed.set(heir, { pid, micros: (owed.get(heir)?.micros ?? 0) + usedMicros(row) })
  }
  for (const [heir, { pid, micros }] of owed) {
    const got = after.get(heir)!.childrenMicros - before.get(heir)!.childrenMicros
    if (got + ROUNDING_MICROS < micros) return pid
  }
  return null
}

function heirOf(pid: number, before: ProcessTable, after: ProcessTable): number | null {
  const parent = before.get(pid)?.parent
  if (parent === undefined || !before.has(parent)) return null
  return isSame(parent, after, before) ? parent : heirOf(parent, before, after)
}
