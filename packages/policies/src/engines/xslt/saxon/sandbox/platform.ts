import { SandboxUrl } from './url.js'

/** A module of Saxonica as a function of what CommonJS and Node.js would give it (`MODULE_PARAMETERS`). */
export type SaxonModule = (...given: readonly unknown[]) => void

/** What a module of Saxonica takes from outside: the first five are those of CommonJS, the others globals. */
export const MODULE_PARAMETERS =
  'require,module,exports,__filename,__dirname,process,console,global,Buffer,fetch,setTimeout'

/** A sandbox from within: the modules that it has, the files that it sees, and what was written and printed. */
interface Platform {
  readonly files: Map<string, string>
  readonly written: string[]
  readonly printed: string[]
  readonly argv: readonly string[]
  modules: Record<string, unknown>
  /** The compiled stylesheet, for `transform`. */
  stylesheet: unknown
  load(name: string, run: SaxonModule): void
}

/** The global object of a sandbox, as far as the scripts inside use it. What comes from outside are texts. */
export type SandboxGlobal = Record<string, unknown> & {
  readonly platform: Platform
  readonly input: string
  readonly body: string
}

/** What SaxonJS does not need, and which would block the process, share memory or run without a deadline. */
const UNUSED_GLOBALS = 'WebAssembly,SharedArrayBuffer,Atomics,FinalizationRegistry,WeakRef,console,input'

/**
 * Builds, out of the language's own objects, what SaxonJS takes from Node.js. This and the functions below run inside
 * the sandbox, from their texts: no object of the process is reachable from them.
 */
function preparePlatform(): void {
  const sandbox = globalThis as unknown as SandboxGlobal
  const { files, argv } = JSON.parse(sandbox.input) as { files: [string, string][]; argv: string[] }
  for (const name of UNUSED_GLOBALS.split(',')) delete sandbox[name]
  // A trace would hand out the functions that are being called.
  Object.defineProperties(Error, {
    prepareStackTrace: { value: undefined, writable: false, configurable: false },
    stackTraceLimit: { value: 0, writable: false, configurable: false },
  })
  const platform: Platform = {
    ...{ files: new Map(files), written: [], printed: [], argv, stylesheet: null, modules: {} },
    load: loadModule,
  }
  platform.modules = {
    fs: fileSystem(platform),
    path: { resolve: (path: string) => (path.startsWith('/') ? path : `/${path}`) },
    url: { URL: SandboxUrl, fileURLToPath: pathOf },
    util: { TextEncoder: Utf8Encoder, TextDecoder: Utf8Decoder },
    axios: {},
  }
  Object.defineProperty(sandbox, 'platform', { value: platform })
}

/** Evaluates a module with what the platform has. */
function loadModule(name: string, run: SaxonModule): void {
  const { platform } = globalThis as unknown as SandboxGlobal
  const module = { exports: {} }
  const require = (wanted: string): unknown => {
    const found = platform.modules[wanted]
    if (found === undefined) throw new Error(`the module '${wanted}' is not there`)
    return found
  }
  const print = (...texts: unknown[]): void => keepPrinted(platform.printed, texts.join(' '))
  const stream = { write: print, isTTY: false }
  const process = {
    argv: ['node', 'module.js', ...platform.argv],
    ...{ env: {}, versions: {}, version: 'v20', platform: 'linux', stdout: stream, stderr: stream },
    hrtime: () => [0, 0],
    exit: () => undefined,
  }
  const console = { log: print, error: print, warn: print, info: print, debug: print }
  // Where SaxonJS looks for functions of JavaScript: there are none.
  const global = Object.freeze(Object.create(null))
  // There is no clock: promises run to their end with the script, and nothing has to be waited for.
  const setTimeout = () => 0
  const parameters = [require, module, module.exports, '/module.js', '/', process, console, global]
  run.apply(module.exports, [...parameters, FileText, undefined, setTimeout])
  platform.modules[name] = module.exports
}

/** Only the beginning is read. A stylesheet with `xsl:message` prints as long as its sandbox lives. */
function keepPrinted(printed: string[], text: string): void {
  if (printed.length < 100) printed.push(text.slice(0, 2000))
}

function pathOf(url: unknown): string {
  return String(url).replace(/^file:\/\//, '')
}

/** The documents to read, and one location to write to. */
function fileSystem({ files, written, printed }: Platform): object {
  const read = (path: unknown): string => {
    const text = files.get(pathOf(path))
    if (text === undefined) throw new Error('there is no such document')
    return text
  }
  const refuse = (): never => {
    throw new Error('files cannot be written')
  }
  return {
    readFileSync: read,
    existsSync: (path: unknown) => files.has(pathOf(path)),
    realpathSync: (path: unknown) => path,
    statSync: () => ({ isFile: () => true, isDirectory: () => false }),
    ...{ openSync: refuse, closeSync: refuse, writeFileSync: refuse, mkdirSync: refuse },
    writeSync: (_descriptor: unknown, text: unknown) => keepPrinted(printed, String(text)),
    promises: {
      mkdir: async () => undefined,
      realpath: async (path: unknown) => path,
      readFile: async (path: unknown) => read(path),
      writeFile: async (_path: unknown, text: unknown) => void written.push(String(text)),
    },
  }
}

/** Stands for Buffer: what SaxonJS reads is text already, and searching it for the bytes of another text works. */
class FileText extends String {
  static from(text: unknown): string {
    return String(text)
  }

  static isEncoding(): boolean {
    return false
  }
}

class Utf8Encoder {
  encode(text = ''): Uint8Array {
    const escaped = encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
    const bytes = escaped.match(/%..|[^%]/g) ?? []
    return Uint8Array.from(bytes, (each) =>
      each.length === 1 ? each.charCodeAt(0) : Number.parseInt(each.slice(1), 16),
    )
  }
}

class Utf8Decoder {
  decode(bytes: Uint8Array): string {
    let escaped = ''
    for (const byte of bytes) escaped += `%${byte.toString(16).padStart(2, '0')}`
    return decodeURIComponent(escaped)
  }
}

/** All of this as one script, which leaves nothing but `platform` behind. */
export const PLATFORM_SCRIPT = `(() => {
'use strict'
const UNUSED_GLOBALS = ${JSON.stringify(UNUSED_GLOBALS)}
${[SandboxUrl, keepPrinted, pathOf, fileSystem, FileText, Utf8Encoder, Utf8Decoder, loadModule, preparePlatform].join('\n')}
preparePlatform()
})()`
