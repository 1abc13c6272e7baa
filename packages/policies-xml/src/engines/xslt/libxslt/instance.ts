import { type Hooks, withHooks } from './hooks.js'

/**
 * Functions of libxslt and libxml2 that the engine calls. They are synchronous here, unlike in the types of the
 * package (see hooks.ts). Pointers are numbers; 0 is the null pointer.
 */
export interface Libxslt {
  readonly HEAPU8: Uint8Array
  _malloc(bytes: number): number
  _free(pointer: number): void
  _xmlReadMemory(bytes: number, length: number, url: number, encoding: number, options: number): number
  _xmlFreeDoc(doc: number): void
  _xsltParseStylesheetDoc(doc: number): number
  _xsltApplyStylesheet(stylesheet: number, doc: number, params: number): number
  _xsltSaveResultTo(buffer: number, result: number, stylesheet: number): number
  _xmlAllocOutputBuffer(encoder: number): number
  _xmlOutputBufferGetContent(buffer: number): number
  _xmlOutputBufferGetSize(buffer: number): number
  _xmlOutputBufferClose(buffer: number): number
  _exsltCommonRegister(): void
  _exsltMathRegister(): void
  _exsltSetsRegister(): void
  _exsltFuncRegister(): void
  _exsltStrRegister(): void
  _exsltDateRegister(): void
}

/** An instance of the library, with its own memory and messages. */
export interface Instance {
  readonly library: Libxslt
  /** Printed errors and messages of stylesheets. The engine empties it. */
  readonly messages: Messages
}

/** Maximum number of message characters that are kept. */
const MAX_MESSAGE_CHARS = 4096

/** Output of an instance, up to a limit, because a stylesheet may print endlessly. */
export class Messages {
  #text = ''

  add(text: string): void {
    if (this.#text.length < MAX_MESSAGE_CHARS) this.#text += text.slice(0, MAX_MESSAGE_CHARS)
  }

  /** Returns and clears the messages printed so far. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}

/**
 * Creates an instance of libxslt, which takes 10 to 25 ms and 16 MB of address space.
 * @param files documents that stylesheets may read during compilation, by URL.
 */
export async function createInstance(files: ReadonlyMap<string, Uint8Array>): Promise<Instance> {
  const messages = new Messages()
  const box: { library: Libxslt | null } = { library: null }
  const hooks: Hooks = {
    heap: () => box.library!.HEAPU8,
    allocate: (bytes) => box.library!._malloc(bytes),
    print: (text) => messages.add(text),
    read: (url) => files.get(url) ?? null,
  }
  const library = await withHooks(hooks, async () => {
    const { default: make } = await import('libxslt-wasm/output/libxslt.js')
    box.library = (await make()) as unknown as Libxslt
    return box.library
  })
  register(library)
  return { library, messages }
}

/**
 * Registers EXSLT except for the modules that evaluate text as XPath (dynamic, saxon): request values must never
 * become expressions.
 */
function register(library: Libxslt): void {
  library._exsltCommonRegister()
  library._exsltMathRegister()
  library._exsltSetsRegister()
  library._exsltFuncRegister()
  library._exsltStrRegister()
  library._exsltDateRegister()
}
