import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DEAD_LETTER_FILE } from '../shipper/dead-letters.js'

/** Of a file that a replay has taken: the process that did. */
const CLAIMED = /^(.+-\d+\.ndjson)\.replay-(\d+)$/

/** A file of dead letters. */
export interface LetterFile {
  readonly path: string
  /** The name under which this process has it to itself. */
  readonly claimed: string
}

/** The spool directory that a person means, who may name the folder of dead letters in it. */
export function spoolRoot(dir: string): string {
  const path = resolve(dir)
  return basename(path) === 'dead' ? dirname(path) : path
}

/** A name of dead letters in a spool that nobody has used. */
export function freshName(root: string): string {
  return join(root, 'dead', `kept-${randomBytes(6).toString('hex')}-0.ndjson`)
}

/**
 * The files of dead letters of a spool, oldest first: also those that a replay had taken which has ended since, but not
 * those of one that runs. @throws the file system's error; ENOENT when there is no such folder.
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
