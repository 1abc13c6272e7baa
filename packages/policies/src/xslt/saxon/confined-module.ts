import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import type { StylesheetSource } from '../stylesheet-source.js'

/** What a confined module can do beside computing. */
export interface Confinement {
  /** What it reads, by path, such as `/stylesheet.xsl`. */
  readonly files: ReadonlyMap<string, string>
  /** What follows the name of the program. */
  readonly args: readonly string[]
  write(text: string): void
  print(text: string): void
  exit(code: number): void
}

type Require = (name: string) => unknown

/** Modules of Node.js that neither read nor send. */
const HARMLESS: readonly string[] = ['path', 'url', 'util', 'stream']
const nodeRequire = createRequire(import.meta.url)

/**
 * Loads one of Saxonica's modules as it is, with files, network, process and environment replaced: whatever a
 * stylesheet calls, doc(), unparsed-text(), environment-variable(), finds what `files` has and nothing else.
 */
export function loadConfined(name: 'saxon-js' | 'xslt3', confinement: Confinement): unknown {
  let saxon: unknown
  const files = fileSystem(confinement)
  const globals = { process: processOf(confinement), console: consoleOf(confinement) }
  const require: Require = (wanted) => {
    if (wanted === 'fs') return files
    if (wanted === 'axios') return { get: refuse, request: refuse }
    if (wanted === 'saxon-js') {
      saxon ??= evaluate('saxon-js', require, globals)
      return saxon
    }
    if (HARMLESS.includes(wanted)) return nodeRequire(`node:${wanted}`)
    throw new Error(`the module '${wanted}' is not there`)
  }
  return name === 'saxon-js' ? require('saxon-js') : evaluate(name, require, globals)
}

/** The path of an address of a stylesheet source. */
export function filesOf({ main, imports }: StylesheetSource): Map<string, string> {
  return new Map(
    [main, ...imports].map(({ url, base64 }) => [
      url.slice(url.indexOf(':') + 1),
      Buffer.from(base64, 'base64').toString('utf8'),
    ]),
  )
}

/** What the modules see of the process. */
interface Globals {
  readonly process: object
  readonly console: object
}

function evaluate(name: string, require: Require, globals: Globals): unknown {
  const path = nodeRequire.resolve(name)
  const source = readFileSync(path, 'utf8').replace(/^#!.*/, '')
  const names = [
    'require',
    'module',
    'exports',
    '__filename',
    '__dirname',
    'process',
    'console',
    'fetch',
    'XMLHttpRequest',
  ]
  const run = compileFunction(source, names, { filename: path })
  const module = { exports: {} }
  run.call(
    module.exports,
    require,
    module,
    module.exports,
    '/module.js',
    '/',
    globals.process,
    globals.console,
    refuse,
    undefined,
  )
  return module.exports
}

function processOf({ args, exit, print }: Confinement): object {
  const { versions, version, platform, hrtime, nextTick } = process
  const stream = { write: print, isTTY: false }
  return {
    argv: ['node', 'module.js', ...args],
    env: {},
    exit,
    cwd: () => '/',
    on: () => undefined,
    stdout: stream,
    stderr: stream,
    ...{ versions, version, platform, hrtime, nextTick },
  }
}

/** The file system that the modules see: `files` to read, one file to write. */
function fileSystem({ files, write, print }: Confinement): object {
  const read = (path: unknown, options?: unknown): string | Buffer => {
    const text = files.get(String(path).replace(/^file:\/\//, ''))
    if (text === undefined) throw new Error('there is no such document')
    return options === undefined ? Buffer.from(text) : text
  }
  return {
    readFileSync: read,
    existsSync: (path: unknown) => files.has(String(path).replace(/^file:\/\//, '')),
    realpathSync: (path: unknown) => path,
    statSync: () => ({ isFile: () => true, isDirectory: () => false }),
    openSync: refuse,
    closeSync: refuse,
    writeFileSync: refuse,
    writeSync: (_descriptor: unknown, text: unknown) => print(String(text)),
    promises: {
      mkdir: async () => undefined,
      realpath: async (path: unknown) => path,
      readFile: async (path: unknown, options?: unknown) => read(path, options),
      writeFile: async (_path: unknown, text: unknown) => write(String(text)),
    },
  }
}

function refuse(): never {
  throw new Error('files and the network are not there')
}

function consoleOf({ print }: Confinement): object {
  return { log: print, error: print, warn: print, info: print, debug: print }
}
