/** What a module is given to be instantiated with: functions and memories, by name and module. */
type WasmImports = Readonly<Record<string, Record<string, unknown>>>

/** The parts of `WebAssembly` that the adapter replaces while an instance of libxslt is made. */
interface WasmGlobal {
  Suspending?: unknown
  promising?: unknown
  Memory: new (descriptor: MemoryDescriptor) => object
  instantiate(binary: unknown, imports: WasmImports): Promise<unknown>
}

interface MemoryDescriptor {
  readonly initial: number
  readonly maximum?: number
  readonly shared?: boolean
}

/** `globalThis.WebAssembly`, as far as it is needed here. */
const wasm = (globalThis as unknown as { readonly WebAssembly: WasmGlobal }).WebAssembly

/** What an instance of libxslt can do outside its memory. */
export interface Hooks {
  /** Its memory as it is now; it grows. */
  heap(): Uint8Array
  /** Memory inside the instance; 0 when there is none. */
  allocate(bytes: number): number
  print(text: string): void
  /** A document that a stylesheet refers to; null when there is none of this URL. */
  read(url: string): Uint8Array | null
}

type Imported = (...args: number[]) => unknown

/** The import by which the library recognises itself here, and asks for documents. */
const FETCH = '__asyncjs__fetchBytes'
/** What the package asks for, in pages of 64 KB; a memory of this kind is libxslt's. */
const PACKAGE_MAX_PAGES = 32_768
/** What it gets, 256 MB: a result that grows without end finds its end here. */
const MAX_PAGES = 4096
/** Answers of system calls (WASI and Linux numbers): access denied, bad descriptor. */
const DENIED = -2
const BAD_DESCRIPTOR = 8
const NOT_FOUND = 404

let queue: Promise<unknown> = Promise.resolve()

/**
 * Makes an instance while parts of `WebAssembly` are replaced, so that the instance gets these hooks in the place of
 * files, network and console, a bounded memory, and functions that return at once: only the loader of URLs would have
 * to wait, and ours does not. One instance after the other, because the replacements are global; they pass on
 * what others do at the same time.
 */
export function withHooks<T>(hooks: Hooks, make: () => Promise<T>): Promise<T> {
  const made = queue.then(async () => {
    const restore = replaceGlobals(hooks)
    try {
      return await make()
    } finally {
      restore()
    }
  })
  queue = made.catch(() => undefined)
  return made
}

function replaceGlobals(hooks: Hooks): () => void {
  const names = ['Suspending', 'promising', 'Memory', 'instantiate'] as const
  const saved = names.map((name) => [wasm, name, Object.getOwnPropertyDescriptor(wasm, name)] as const)
  // The package makes the threads of Node.js a global of the process.
  const worker = [globalThis, 'Worker', Object.getOwnPropertyDescriptor(globalThis, 'Worker')] as const
  const { Memory, instantiate } = wasm
  // A class that "new" gives the function itself back for: nothing is suspended, nothing is a promise.
  wasm.Suspending = function suspending(wrapped: unknown) {
    return wrapped
  }
  wasm.promising = (wrapped: unknown) => wrapped
  wasm.Memory = function boundedMemory(descriptor: MemoryDescriptor) {
    const isOfPackage = descriptor.maximum === PACKAGE_MAX_PAGES && descriptor.shared === true
    return new Memory(isOfPackage ? { ...descriptor, maximum: MAX_PAGES } : descriptor)
  } as unknown as typeof Memory
  wasm.instantiate = (binary, imports) => {
    if (imports['env']?.[FETCH] !== undefined) confine(imports, hooks)
    return instantiate.call(wasm, binary, imports)
  }
  return () => {
    for (const [owner, name, descriptor] of [...saved, worker]) {
      if (descriptor === undefined) Reflect.deleteProperty(owner, name)
      else Object.defineProperty(owner, name, descriptor)
    }
  }
}

/** Replaces what an instance could reach files, the network and the console with. */
function confine(imports: WasmImports, hooks: Hooks): void {
  for (const module of Object.values(imports)) {
    for (const [name, replacement] of Object.entries(replacements(hooks))) {
      if (name in module) module[name] = replacement
    }
  }
}

function replacements(hooks: Hooks): Record<string, Imported> {
  const denied = (): number => DENIED
  const badDescriptor = (): number => BAD_DESCRIPTOR
  return {
    [FETCH]: fetchFrom(hooks) as Imported,
    fd_write: printTo(hooks) as Imported,
    fd_read: badDescriptor,
    fd_seek: badDescriptor,
    __syscall_openat: denied,
    __syscall_mkdirat: denied,
    __syscall_stat64: denied,
  }
}

/** `fetchBytes(url, &bytes, &length, &error)`. */
function fetchFrom(hooks: Hooks) {
  return (url: number, bytesAt: number, lengthAt: number, errorAt: number): void => {
    const found = hooks.read(cString(hooks.heap(), url))
    const at = found === null ? 0 : hooks.allocate(found.length)
    if (found !== null && at !== 0) hooks.heap().set(found, at)
    const view = viewOf(hooks.heap())
    view.setUint32(bytesAt, at, true)
    view.setUint32(lengthAt, at === 0 ? 0 : found!.length, true)
    view.setUint32(errorAt, at === 0 ? NOT_FOUND : 0, true)
  }
}

/** `fd_write(descriptor, vectors, count, &written)`: whatever the descriptor, it is a message. */
function printTo(hooks: Hooks) {
  return (_descriptor: number, vectors: number, count: number, writtenAt: number): number => {
    const heap = hooks.heap()
    const view = viewOf(heap)
    let written = 0
    for (let i = 0; i < count; i++) {
      const at = view.getUint32(vectors + 8 * i, true)
      const length = view.getUint32(vectors + 8 * i + 4, true)
      hooks.print(Buffer.from(heap.subarray(at, at + length)).toString('utf8'))
      written += length
    }
    view.setUint32(writtenAt, written, true)
    return 0
  }
}

function viewOf(heap: Uint8Array): DataView {
  return new DataView(heap.buffer, heap.byteOffset, heap.byteLength)
}

/** A string that ends with a zero. */
export function cString(heap: Uint8Array, at: number): string {
  return Buffer.from(heap.subarray(at, heap.indexOf(0, at))).toString('utf8')
}
