import type { ConfigBundle, DocumentSource } from '@sluice/config'
import type { ExplainedRequest } from '../../explain/arrival.js'
import type { TrafficRecord } from '../../explain/explain-record.js'
import type { DocumentAnswer, Documents } from '../documents/documents.js'
import type { DeployHistory, StoredDeploy } from './deploy-history.js'

interface QuestionOptions {
  readonly documents: Pick<Documents, 'ask' | 'compare'>
  readonly history: DeployHistory
  /** Returns the active bundle, or null before the first. */
  readonly bundle: () => ConfigBundle | null
}

/** Answers questions about the active document and earlier ones. */
export class DocumentQuestions {
  readonly #options: QuestionOptions

  constructor(options: QuestionOptions) {
    this.#options = options
  }

  /** Explains a request to the active plan, or null before the first. */
  async explain(request: ExplainedRequest): Promise<DocumentAnswer | null> {
    const bundle = this.#options.bundle()
    return bundle === null ? null : this.#options.documents.ask({ kind: 'explain', bundle, request })
  }

  /** Explains a record of the traffic log with the active plan, or returns null before the first. */
  async explainRecord(record: TrafficRecord): Promise<DocumentAnswer | null> {
    const bundle = this.#options.bundle()
    return bundle === null ? null : this.#options.documents.ask({ kind: 'explain-record', bundle, record })
  }

  /** Returns the active document as YAML with masked secrets, or null if it is not in the history. */
  async document(): Promise<DocumentAnswer | null> {
    const { bundle: active, history, documents } = this.#options
    const bundle = active()
    const deploy = history.list().find(({ digest }) => digest === bundle?.digest)
    const stored = history.find(deploy?.id ?? '')
    if (bundle === null || stored === null) return null
    return documents.ask({ kind: 'document', bundle, text: stored.text })
  }

  /**
   * Returns the changes between two deploys, by default the last two. Resolves with null if there is no such
   * deploy.
   */
  async diffDeploys(from: string | null, to: string | null): Promise<DocumentAnswer | null> {
    const { history, documents } = this.#options
    const [newest, previous = newest] = history.list()
    const before = history.find(from ?? previous?.id ?? '')
    const after = history.find(to ?? newest?.id ?? '')
    return before === null || after === null ? null : documents.compare(sourceOf(before), sourceOf(after))
  }
}

function sourceOf({ name, text }: StoredDeploy): DocumentSource {
  return { name, text }
}
