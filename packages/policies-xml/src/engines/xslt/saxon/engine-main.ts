import { type SaxonPaths, setSaxonPaths } from './sandbox/sandbox.js'
import {
  type CompiledStylesheet,
  type CompilerResult,
  compileInSandbox,
  type SaxonResult,
  StylesheetSandbox,
} from './sandbox/stylesheet-sandbox.js'
import type { TransformInput } from './sandbox/transform.js'

/** Requests to the engine. Each has one answer, in the same order. */
export type EngineRequest =
  | { readonly kind: 'compile'; readonly files: CompiledStylesheet['files']; readonly timeoutMs: number }
  | { readonly kind: 'load'; readonly key: string; readonly stylesheet: CompiledStylesheet }
  | { readonly kind: 'forget'; readonly key: string }
  | {
      readonly kind: 'transform'
      readonly key: string
      readonly body: string
      readonly input: TransformInput
      readonly timeoutMs: number
    }

/** Answers of the engine. */
export type EngineAnswer = CompilerResult | SaxonResult | { readonly kind: 'done' | 'failed' }

setSaxonPaths(JSON.parse(process.argv[2]!) as SaxonPaths)
const stylesheets = new Map<string, StylesheetSandbox>()

function answer(request: EngineRequest): EngineAnswer {
  switch (request.kind) {
    case 'compile':
      return compileInSandbox(request.files, request.timeoutMs)
    case 'load':
      stylesheets.set(request.key, new StylesheetSandbox(request.stylesheet))
      return { kind: 'done' }
    case 'forget':
      stylesheets.delete(request.key)
      return { kind: 'done' }
    case 'transform':
      return stylesheets.get(request.key)!.run(request.body, request.input, request.timeoutMs)
  }
}

process.on('message', (request: EngineRequest) => {
  let said: EngineAnswer
  try {
    said = answer(request)
  } catch {
    said = { kind: 'failed' }
  }
  process.send?.(said)
})
process.on('disconnect', () => process.exit())
// Signals to the process group are meant for the gateway, which ends this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
