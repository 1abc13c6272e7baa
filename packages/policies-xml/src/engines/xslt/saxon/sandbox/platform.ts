import { SandboxUrl } from './url.js'

/** A Saxonica module as a function of its CommonJS and Node.js parameters (`MODULE_PARAMETERS`). */
export type SaxonModule = (...given: readonly unknown[]) => void

/** Parameters of a Saxonica module: the first five are those of CommonJS, the others are globals. */
export const MODULE_PARAMETERS =
  'require,module,exports,__filename,__dirname,process,console,global,Buffer,fetch,setTimeout'

/** State inside a sandbox: its modules and files, and what was written and printed. */
interface Platform {
  readonly files: Map<string, string>
  readonly written: string[]
  readonly printed: string[]
  readonly argv: readonly string[]
  modules: Record<string, unknown>
  /** Compiled stylesheet, for `transform`. */
  stylesheet: unknown
  load(name: string, run: SaxonModule): void
}

/** Global object of a sandbox. Input from outside is always text. */
export type SandboxGlobal = Record<string, unknown> & {
  readonly platform: Platform
  readonly input: string
  readonly body: string
}

/** Globals that SaxonJS does not need. They could block the process, share memory or run without a deadline. */
const UNUSED_GLOBALS = 'WebAssembly,SharedArrayBuffer,Atomics,FinalizationRegistry,WeakRef,console,input'

/**
 * Builds the Node.js API that SaxonJS uses, from objects of the sandbox. This function and those below run inside the
 * sandbox, from their source text, so no object of the process is reachable from them.
 */
function preparePlatform(): void {
  const sandbox = globalThis as unknown as SandboxGlobal
  const { files, argv } = JSON.parse(sandbox.input) as { files: [string, string][]; argv: string[] }
  for (const name of UNUSED_GLOBALS.split(',')) delete sandbox[name]
  // A stack trace would expose the functions on the call stack.
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

/** Evaluates a module with the platform's API. */
function loadModule(name: string, run: SaxonModule): void {
  const { platform } = globalThis as unknown as SandboxGlobal
  const module = { exports: {} }
  const require = (wanted: string): unknown => {
    const found = platform.modules[wanted]
    if (found === undefined) throw new Error(`the module '${wanted}' is not available`)
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
  // SaxonJS looks up JavaScript functions here. There are none.
  const global = Object.freeze(Object.create(null))
  // There is no clock: promises settle when the script ends, so nothing has to wait.
  const setTimeout = () => 0
  const parameters = [require, module, module.exports, '/module.js', '/', process, console, global]
  run.apply(module.exports, [...parameters, FileText, undefined, setTimeout])
  platform.modules[name] = module.exports
}

/** Keeps printed text up to a limit, because a stylesheet with `xsl:message` can print endlessly. */
function keepPrinted(printed: string[], text: string): void {
  if (printed.length < 100) printed.push(text.slice(0, 2000))
}

function pathOf(url: unknown): string {
  return String(url).replace(/^file:\/\//, '')
}

/** File system with the readable documents and one output. */
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

/** Replacement for Buffer. SaxonJS reads text here, and searching it for the bytes of another text works. */
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

/** The platform as one script that defines only `platform`. */
export const PLATFORM_SCRIPT = `(() => {
'use strict'
const UNUSED_GLOBALS = ${JSON.stringify(UNUSED_GLOBALS)}
${[SandboxUrl, keepPrinted, pathOf, fileSystem, FileText, Utf8Encoder, Utf8Decoder, loadModule, preparePlatform].join('\n')}
preparePlatform()
})()`
