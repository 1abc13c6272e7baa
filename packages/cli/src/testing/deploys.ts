import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { fileWith, gw, type Outcome } from '../testing.js'
import { kubectl } from './cluster.js'

/** Helpers that run `gw` and kubectl in a namespace with one gateway. */
export interface DeployHelpers {
  readonly inPlace: readonly string[]
  /** Complete output of all `gw` commands. */
  readonly said: string[]
  readonly run: (...args: readonly string[]) => Promise<Outcome>
  readonly deploy: (t: TestContext, text: string, ...more: readonly string[]) => Promise<Outcome>
  readonly inNamespace: (...args: readonly string[]) => string
  /** Returns the sorted names of the pods that are not terminating. */
  readonly pods: () => string[]
  /** Returns the response body of every ready pod. */
  readonly answers: () => Promise<string[]>
}

interface Slice {
  readonly ports: readonly { readonly port: number }[]
  readonly endpoints?: readonly {
    readonly addresses: readonly string[]
    readonly conditions: { readonly ready: boolean }
  }[]
}

/** Creates the helpers for a namespace. */
export function deployHelpers(namespace: string): DeployHelpers {
  const inPlace = ['--namespace', namespace]
  const said: string[] = []
  const inNamespace = (...args: readonly string[]): string => kubectl(['-n', namespace, ...args])
  const run = async (...args: readonly string[]): Promise<Outcome> => {
    const outcome = await gw(args, { timeout: 180_000 })
    said.push(outcome.stdout, outcome.stderr)
    return outcome
  }
  const pods = (): string[] => {
    const { items } = JSON.parse(
      inNamespace('get', 'pods', '-l', 'app.kubernetes.io/instance=sluice', '-o', 'json'),
    )
    const lasting = items.filter((pod: { metadata: object }) => !('deletionTimestamp' in pod.metadata))
    return lasting.map((pod: { metadata: { name: string } }) => pod.metadata.name).sort()
  }
  const answers = async (): Promise<string[]> => {
    const { items } = JSON.parse(
      inNamespace('get', 'endpointslices', '-l', 'kubernetes.io/service-name=sluice', '-o', 'json'),
    ) as { items: Slice[] }
    const places = items.flatMap(({ endpoints = [], ports }) =>
      endpoints
        .filter(({ conditions }) => conditions.ready)
        .map(({ addresses }) => `${addresses[0]}:${ports[0]!.port}`),
    )
    return Promise.all(places.map(async (place) => (await fetch(`http://${place}/`)).text()))
  }
  return {
    ...{ inPlace, said, run, inNamespace, pods, answers },
    deploy: (t, text, ...more) =>
      run('deploy', 'kubernetes', '-c', fileWith(t, text), ...inPlace, '--timeout', '2m', ...more),
  }
}

/** Asserts the exit code, with the output as the message. */
export function expectExit({ code, stdout, stderr }: Outcome, wanted: number): void {
  assert.equal(code, wanted, stdout + stderr)
}
