/** The part of WebAssembly that is used here; the types of Node.js leave it to those of browsers. */
interface WebAssemblyApi {
  readonly compile: (binary: Uint8Array) => Promise<WasmModule>
  readonly Instance: new (module: WasmModule, imports: object) => WasmInstance
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => object
  readonly RuntimeError: new () => Error
}

/** Compiled code, which any number of instances share. */
export type WasmModule = object

/** Code with its memory. */
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}

/** A number that both sides read and write. */
export interface WasmGlobal {
  value: number
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly
