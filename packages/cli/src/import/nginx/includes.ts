import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { compileRegex } from '@sluice/core'
import { visibleText } from '@sluice/core/visible-text'
import { EXIT, Failure } from '../../output/failure.js'
import { escapeRegex } from '../patterns.js'
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
  if (!GLOB.test(pattern)) return existsSync(pattern) ? [pattern] : null
  // nginx accepts a missing folder. Here, it may exist on another machine only.
  const fixed = pattern.slice(0, pattern.search(GLOB))
  if (!existsSync(fixed.slice(0, fixed.lastIndexOf('/') + 1))) return null
  const parts = pattern.split('/').filter((one) => one !== '')
  const matching = (folder: string, part: string): string[] =>
    namesIn(folder)
      .filter(globTest(part))
      .map((name) => join(folder, name))
  return parts.reduce(
    (found, part) =>
      found.flatMap((one) => {
        if (GLOB.test(part)) return matching(one, part)
        return existsSync(join(one, part)) ? join(one, part) : []
      }),
    ['/'],
  )
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** Returns a test for names, with `*`, `?` and `[…]`. A leading dot must be literal. RE2 matches in linear time. */
function globTest(pattern: string): (name: string) => boolean {
  const source = pattern.replaceAll(/\[(!?)(.[^\]]*)\]|[\s\S]/g, (part, not?: string, inside?: string) => {
    if (inside !== undefined) return `[${not === '!' ? '^' : ''}${inside.replaceAll(/[\\[\]^]/g, '\\$&')}]`
    return part === '*' ? '[\\s\\S]*' : part === '?' ? '[\\s\\S]' : escapeRegex(part)
  })
  try {
    const regex = compileRegex(`^${source}$`)
    return (name) => (!name.startsWith('.') || pattern.startsWith('.')) && regex.test(name)
  } catch {
    return () => false
  }
}
