/** Imports of a WebAssembly module, by module and name. */
type WasmImports = Readonly<Record<string, Record<string, unknown>>>

/** Parts of `WebAssembly` that are replaced while an instance of libxslt is created. */
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

/** The parts of `globalThis.WebAssembly` that are used here. */
const wasm = (globalThis as unknown as { readonly WebAssembly: WasmGlobal }).WebAssembly

/** Access of a libxslt instance to the outside. */
export interface Hooks {
  /** Returns the current memory of the instance. It grows. */
  heap(): Uint8Array
  /** Allocates memory inside the instance. Returns 0 if the allocation fails. */
  allocate(bytes: number): number
  print(text: string): void
  /** Returns a document that a stylesheet refers to, or null if the URL is unknown. */
  read(url: string): Uint8Array | null
}

type Imported = (...args: number[]) => unknown

/** Name of the import that loads documents. It also identifies the libxslt library. */
const FETCH = '__asyncjs__fetchBytes'
/** Maximum memory that the package requests, in pages of 64 KB. It identifies libxslt's memory. */
const PACKAGE_MAX_PAGES = 32_768
/** Maximum memory of an instance, in pages: 256 MB. It stops results that grow endlessly. */
const MAX_PAGES = 4096
/** Results of system calls (WASI and Linux numbers): access denied, bad descriptor. */
const DENIED = -2
const BAD_DESCRIPTOR = 8
const NOT_FOUND = 404

let queue: Promise<unknown> = Promise.resolve()

/**
 * Creates an instance while parts of `WebAssembly` are replaced. The instance gets these hooks instead of files,
 * network and console, limited memory, and synchronous functions: only the URL loader would be asynchronous, and ours
 * is not. Instances are created one at a time because the replacements are global. Other users of `WebAssembly` are
 * not affected.
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
  // The package also sets a global `Worker`.
  const worker = [globalThis, 'Worker', Object.getOwnPropertyDescriptor(globalThis, 'Worker')] as const
  const { Memory, instantiate } = wasm
  // `new` on this function returns the wrapped function itself, so nothing is suspended and nothing returns a
  // promise.
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

/** Replaces the imports through which an instance could reach files, the network and the console. */
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

/** Creates `fetchBytes(url, &bytes, &length, &error)`. */
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

/** Creates `fd_write(descriptor, vectors, count, &written)`. Output to any descriptor is a message. */
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

/** Reads a null-terminated string. */
export function cString(heap: Uint8Array, at: number): string {
  return Buffer.from(heap.subarray(at, heap.indexOf(0, at))).toString('utf8')
}
