import { parentPort, workerData } from 'node:worker_threads'
import {
  type ConfigBundle,
  type Diagnostic,
  DocumentLoader,
  type DocumentSource,
  diffBundles,
  displayPlan,
  loadBodyLanguages,
  loadNamedPolicies,
  loadPlannedPolicies,
  type Overrides,
  type Plan,
  type PlanChange,
  packBundle,
  readPlugins,
  unpackBundle,
} from '@sluice/config'
import type { Catalog } from '@sluice/core'
import type { ExplainedRequest } from '../../explain/arrival.js'

/** Settings passed to the document thread. */
export interface CheckSettings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly overrides: Overrides
}

/** Request to the document thread. */
export type DocumentRequest =
  | { readonly kind: 'check'; readonly source: DocumentSource; readonly serving: ConfigBundle | null }
  | { readonly kind: 'display'; readonly bundle: ConfigBundle }
  | { readonly kind: 'explain'; readonly bundle: ConfigBundle; readonly request: ExplainedRequest }

/** A bundle with its routes as texts, or all errors in the document. */
export type CheckResult =
  | {
      readonly ok: true
      readonly bundle: ConfigBundle
      readonly warnings: readonly Diagnostic[]
      /** Changes to the running plan. Values of references are named but not shown. */
      readonly changes: readonly PlanChange[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Answers the messages sent to this thread. `check` turns a document into its bundle or its errors; `display`
 * returns a bundle's plan with all secrets masked; `explain` returns an explanation as JSON, or an error. Call it once, in the thread's entry file.
 */
export function checkDocuments(catalog: Catalog): void {
  const settings = { catalog, ...(workerData as CheckSettings) }
  const loader = new DocumentLoader()
  const check = async (source: DocumentSource, serving: ConfigBundle | null): Promise<CheckResult> => {
    await Promise.all([loadBodyLanguages(source.text, catalog), loadNamedPolicies(source.text, catalog)])
    const plugins = await readPlugins(source, catalog)
    let result = loader.load(source, { ...settings, plugins })
    if (!result.ok && catalog.load !== undefined) {
      await catalog.load(() => true)
      result = loader.load(source, { ...settings, plugins })
    }
    if (!result.ok) return result
    return {
      ...result,
      bundle: packBundle(result.bundle),
      changes: diffBundles(serving, result.bundle, catalog),
    }
  }
  const display = async (bundle: ConfigBundle): Promise<Plan> => {
    const { plan } = unpackBundle(bundle)
    await loadPlannedPolicies(plan, catalog)
    return displayPlan(plan, catalog)
  }
  const explain = async (packed: ConfigBundle, request: ExplainedRequest): Promise<string | Error> => {
    // Only for this, because it loads the modules of the request path.
    const { explainRequest } = await import('../../explain/explain-request.js')
    const bundle = unpackBundle(packed)
    await loadPlannedPolicies(bundle.plan, catalog)
    return explainRequest(bundle, catalog, request).then(
      (explanation) => JSON.stringify(explanation),
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    )
  }
  const answerTo = (asked: DocumentRequest): Promise<unknown> => {
    if (asked.kind === 'check') return check(asked.source, asked.serving)
    return asked.kind === 'display' ? display(asked.bundle) : explain(asked.bundle, asked.request)
  }
  parentPort!.on('message', async (asked: DocumentRequest) => {
    parentPort!.postMessage(await answerTo(asked))
  })
}
