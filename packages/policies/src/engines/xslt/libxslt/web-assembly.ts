/** What a module is given to be instantiated with: functions and memories, by name and module. */
export type WasmImports = Readonly<Record<string, Record<string, unknown>>>

/** The parts of `WebAssembly` that the adapter replaces while an instance of libxslt is made. */
export interface WasmGlobal {
  Suspending?: unknown
  promising?: unknown
  Memory: new (descriptor: MemoryDescriptor) => object
  instantiate(binary: unknown, imports: WasmImports): Promise<unknown>
}

export interface MemoryDescriptor {
  readonly initial: number
  readonly maximum?: number
  readonly shared?: boolean
}

/** `globalThis.WebAssembly`, as far as it is needed here. */
export const wasm = (globalThis as unknown as { readonly WebAssembly: WasmGlobal }).WebAssembly
