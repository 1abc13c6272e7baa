import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Engine, Program } from '../engine.js'
import { QuickjsSandbox } from './quickjs-sandbox.js'
import type { Instance } from './rejections.js'
import { TABLE_EXPORT, withTableExport } from './table-export.js'
import { type WasmInstance, type WasmModule, type WasmTable, webAssembly } from './web-assembly.js'

const PAGE_BYTES = 65_536
/** Initial memory size of the engine in pages. */
const FIRST_PAGES = 256

type QuickjsModule = typeof import('quickjs-emscripten')

let loading: Promise<Engine> | null = null

/**
 * Returns the engine that runs scripts on QuickJS in WebAssembly. Scripts can reach only what the gateway passes in.
 * Each sandbox is a separate instance with its own memory, so a broken one does not affect the others.
 */
export function quickjsEngine(): Promise<Engine> {
  loading ??= load()
  return loading
}

/** Loads the engine on first use, because most gateways run no scripts. */
async function load(): Promise<Engine> {
  const quickjs = await import('quickjs-emscripten')
  const fromEngine = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'))
  const binary = readFileSync(fromEngine.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))
  const compiled = await webAssembly.compile(withTableExport(binary))
  return {
    name: 'quickjs',
    async open(program) {
      return new QuickjsSandbox(await instantiate(quickjs, compiled, program), program)
    },
  }
}

async function instantiate(
  quickjs: QuickjsModule,
  compiled: WasmModule,
  { limits }: Program,
): Promise<Instance> {
  const { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } = quickjs
  let exports: WasmInstance['exports'] = {}
  // QuickJS does not count all of its memory, such as that of ArrayBuffers. So the WebAssembly memory is limited too.
  const maximum = FIRST_PAGES + Math.ceil(limits.memoryBytes / PAGE_BYTES)
  const memory = new webAssembly.Memory({ initial: FIRST_PAGES, maximum })
  const emscriptenModule = {
    wasmMemory: memory,
    instantiateWasm(imports: object, done: (instance: WasmInstance) => void) {
      const instance = new webAssembly.Instance(compiled, imports)
      exports = instance.exports
      done(instance)
      return exports
    },
  }
  const variant = newVariant(RELEASE_SYNC, { emscriptenModule: emscriptenModule as object })
  const engine = await newQuickJSWASMModuleFromVariant(variant)
  return { engine, memory, table: exports[TABLE_EXPORT] as WasmTable }
}
