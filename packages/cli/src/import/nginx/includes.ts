import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { visibleText } from '@sluice/core/visible-text'
import { EXIT, Failure } from '../../output/failure.js'
import { readSourceFile } from '../source-file.js'
import { type Directive, parseConfig } from './parse.js'

/** Maximum number of files of one configuration. */
const MAX_FILES = 2000
/** Maximum total size of the files, in characters. */
const MAX_TOTAL = 64 * 1024 * 1024
const GLOB = /[*?[]/

/** Reads a configuration with the files that it includes. */
export class ConfigReader {
  /** Includes with a pattern that no file matches, although its folder exists. */
  readonly emptyPatterns: Directive[] = []
  #files = 0
  #size = 0

  /** Returns the directives of a file. Includes that name no file remain as directives. */
  read(file: string): Directive[] {
    return this.#read(file, dirname(file), [])
  }

  #read(file: string, folder: string, parents: readonly string[]): Directive[] {
    const path = resolve(file)
    if (parents.includes(path))
      throw new Failure(`${visibleText(file)}: the file includes itself`, EXIT.invalid)
    const text = readSourceFile(file)
    this.#size += text.length
    if (++this.#files > MAX_FILES || this.#size > MAX_TOTAL)
      throw new Failure(`${visibleText(file)}: the configuration includes too many files`, EXIT.invalid)
    return this.#expand(parseConfig(file, text), folder, [...parents, path])
  }

  #expand(directives: readonly Directive[], folder: string, parents: readonly string[]): Directive[] {
    return directives.flatMap((directive): Directive[] => {
      const { name, args, block } = directive
      if (block !== null) return [{ ...directive, block: this.#expand(block, folder, parents) }]
      if (name !== 'include' || args.length !== 1) return [directive]
      const files = filesOf(resolve(folder, args[0]!))
      if (files === null) return [directive]
      if (files.length === 0) this.emptyPatterns.push(directive)
      return files.flatMap((file) => this.#read(file, folder, parents))
    })
  }
}

/** Returns the files of a pattern in the order of their names, or null if a single file or the folder is missing. */
function filesOf(pattern: string): string[] | null {
  // nginx accepts a missing folder. Here, it may exist on another machine only.
  const fixed = pattern.slice(0, pattern.search(GLOB))
  if (GLOB.test(pattern) && !existsSync(fixed.slice(0, fixed.lastIndexOf('/') + 1))) return null
  let found = ['/']
  for (const part of pattern.split('/').filter((one) => one !== '')) {
    found = GLOB.test(part)
      ? found.flatMap((folder) =>
          namesIn(folder)
            .filter(globTest(part))
            .map((name) => join(folder, name)),
        )
      : found.map((folder) => join(folder, part))
  }
  if (GLOB.test(pattern))
    return found.filter((file) =>
      namesIn(dirname(file)).includes(file.slice(dirname(file).length).replace(/^\//, '')),
    )
  return namesIn(dirname(pattern)).includes(pattern.slice(dirname(pattern).length).replace(/^\//, ''))
    ? found
    : null
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/**
 * Returns a test for names, with `*`, `?` and `[…]`. A leading dot must be literal. The test goes back to the last
 * `*` only, so that its time does not grow with their number.
 */
function globTest(pattern: string): (name: string) => boolean {
  const parts = (pattern.match(/\[.[^\]]*\]|[\s\S]/g) ?? []).map((part) =>
    part === '*' ? null : charTest(part),
  )
  return (name) => {
    if (name.startsWith('.') && !pattern.startsWith('.')) return false
    let part = 0
    let back = { part: -1, at: 0 }
    for (let at = 0; at < name.length; ) {
      const test = parts[part]
      if (test === null) back = { part: ++part, at }
      else if (test?.test(name[at]!) === true) {
        part++
        at++
      } else if (back.part >= 0) {
        back = { part: back.part, at: back.at + 1 }
        part = back.part
        at = back.at
      } else return false
    }
    return parts.slice(part).every((one) => one === null)
  }
}

/** Returns the test for a character, `?` or `[…]`. */
function charTest(part: string): RegExp {
  const inside = part
    .slice(1, -1)
    .replaceAll(/[\\\]]/g, '\\$&')
    .replace(/^!/, '^')
  try {
    return part === '?' ? /[\s\S]/ : new RegExp(part.length > 1 ? `[${inside}]` : part.replace(/\W/, '\\$&'))
  } catch {
    return /(?!)/
  }
}
