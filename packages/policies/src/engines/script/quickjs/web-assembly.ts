/** The part of WebAssembly that is used here; the types of Node.js leave it to those of browsers. */
interface WebAssemblyApi {
  readonly compile: (binary: Uint8Array) => Promise<WasmModule>
  readonly Instance: new (module: WasmModule, imports: object) => WasmInstance
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory
  readonly Module: new (binary: Uint8Array) => WasmModule
}

/** Compiled code, which any number of instances share. */
export type WasmModule = object

/** Code with its memory. */
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}

/** The memory of code; its buffer is another one after it has grown. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

/** The functions that code can call by their number. */
export interface WasmTable {
  readonly length: number
  grow(by: number, value: unknown): number
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly
