import { parentPort, workerData } from 'node:worker_threads'
import {
  DocumentLoader,
  type DocumentSource,
  loadBodyLanguages,
  loadNamedPolicies,
  type Overrides,
  readPlugins,
} from '@sluice/config'
import type { Catalog } from '@sluice/core'

/** What the thread is started with. */
export interface CheckSettings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly overrides: Overrides
}

/** Answers each document that this thread is sent with its bundle, or with its mistakes. Call it once, in the entry file. */
export function checkDocuments(catalog: Catalog): void {
  const settings = { catalog, ...(workerData as CheckSettings) }
  const loader = new DocumentLoader()
  const check = async (source: DocumentSource): Promise<void> => {
    await Promise.all([loadBodyLanguages(source.text, catalog), loadNamedPolicies(source.text, catalog)])
    const plugins = await readPlugins(source, catalog)
    let result = loader.load(source, { ...settings, plugins })
    if (!result.ok && catalog.load !== undefined) {
      await catalog.load(() => true)
      result = loader.load(source, { ...settings, plugins })
    }
    parentPort!.postMessage(result)
  }
  parentPort!.on('message', (source: DocumentSource) => void check(source))
}
