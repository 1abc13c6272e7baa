import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isAlive } from '@sluice/core/process-stat'
import { DEAD_LETTER_FILE } from '../shipper/dead-letters.js'

/** Name of a claimed file, with the ID of the process that claimed it. */
const CLAIMED = /^(.+-\d+\.ndjson)\.replay-(\d+)$/

/** A dead-letter file. */
export interface LetterFile {
  readonly path: string
  /** Name under which this process claims the file. */
  readonly claimed: string
}

/** Returns the spool directory. Accepts its dead-letter directory as well. */
export function spoolRoot(dir: string): string {
  const path = resolve(dir)
  return basename(path) === 'dead' ? dirname(path) : path
}

/** Returns an unused dead-letter file name. */
export function freshName(root: string): string {
  return join(root, 'dead', `kept-${randomBytes(6).toString('hex')}-0.ndjson`)
}

/**
 * Lists the dead-letter files of a spool, oldest first. Includes files claimed by a replay that has ended,
 * but not those of a running one. @throws The file system error; ENOENT if there is no dead-letter directory.
 */
export function letterFiles(root: string): LetterFile[] {
  const dir = join(root, 'dead')
  const files: (LetterFile & { readonly modifiedMs: number })[] = []
  for (const name of readdirSync(dir)) {
    const original = originalName(name)
    if (original === null) continue
    const path = join(dir, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isFile() !== true) continue
    const claimed = join(dir, `${original}.replay-${process.pid}`)
    files.push({ path, claimed, modifiedMs: stat.mtimeMs })
  }
  return files.sort((a, b) => a.modifiedMs - b.modifiedMs)
}

function originalName(name: string): string | null {
  if (DEAD_LETTER_FILE.test(name)) return name
  const claim = CLAIMED.exec(name)
  return claim === null || isAlive(Number(claim[2])) ? null : claim[1]!
}
