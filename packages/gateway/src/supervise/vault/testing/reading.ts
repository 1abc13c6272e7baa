import type { TestContext } from 'node:test'
import { isIssue, type VaultRequest, vaultRequestOf } from '@sluice/config'
import { createOperationLog } from '../../../telemetry/operation-log.js'
import { VaultSecrets } from '../vault-secrets.js'

/** Returns the request of a document with these settings and references, as the document thread makes it. */
export function requestOf(
  vault: object | null,
  references: readonly string[],
  env: Readonly<Record<string, string>> = {},
): VaultRequest {
  const document = {
    version: 1,
    ...(vault === null ? {} : { vault }),
    environment: references.map((reference) => `\${vault:${reference}}`).join(' '),
    routes: [],
  }
  const source = { name: 'gateway.yaml', text: JSON.stringify(document) }
  const request = vaultRequestOf(source, { catalog: new Map(), env })
  if (request === null) throw new Error('no references')
  return request
}

/** Reads secrets in a test, and collects the log. */
export function vaultReader(t: TestContext) {
  const lines: string[] = []
  const secrets = new VaultSecrets(createOperationLog({ write: (line) => lines.push(line) }))
  t.after(() => secrets.close())
  /** Returns the values, or the messages of failures, in the order of the references. */
  const read = async (...args: Parameters<typeof requestOf>): Promise<string[]> => {
    const { values } = await secrets.read(requestOf(...args))
    return [...values.values()].map((value) =>
      isIssue(value) ? `${value.message} (${value.remedy})` : value,
    )
  }
  return { secrets, read, log: () => lines.join('') }
}
