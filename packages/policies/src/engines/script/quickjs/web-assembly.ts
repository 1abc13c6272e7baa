/** The part of the WebAssembly API that the gateway uses. The types of Node.js do not include it. */
interface WebAssemblyApi {
  readonly compile: (binary: Uint8Array) => Promise<WasmModule>
  readonly Instance: new (module: WasmModule, imports: object) => WasmInstance
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory
  readonly Module: new (binary: Uint8Array) => WasmModule
}

/** A compiled module, which any number of instances can share. */
export type WasmModule = object

/** A module instance with its memory. */
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}

/** Memory of an instance. Growing it replaces the buffer. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

/** Table of functions that an instance can call by number. */
export interface WasmTable {
  readonly length: number
  grow(by: number, value: unknown): number
}

/** The global `WebAssembly` object. */
export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly
