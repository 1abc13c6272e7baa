import { type TestContext, test } from 'node:test'
import type { UpstreamPlan } from '@sluice/config'
import { type PlanOverrides, startGateway, type TestGateway, type TestGatewayOptions } from './gateway.js'

/** HTTP clients for upstreams. Tests run against both. */
export const TRANSPORTS = ['undici', 'wire'] as const

export type TransportName = (typeof TRANSPORTS)[number]

/** Upstream settings that select a transport. */
export const OVER = {
  undici: { transport: 'undici' },
  wire: { transport: 'wire' },
} as const satisfies Record<TransportName, Partial<UpstreamPlan>>

type StartGateway = (
  t: TestContext,
  overrides: PlanOverrides,
  options?: TestGatewayOptions,
) => Promise<TestGateway>

/** Like `startGateway`, with one transport for all upstreams. */
export function startOver(transport: TransportName): StartGateway {
  const over = (overrides: PlanOverrides): PlanOverrides => ({
    ...overrides,
    upstreams: (overrides.upstreams ?? []).map((upstream) => ({ ...OVER[transport], ...upstream })),
  })
  return async (t, overrides, options) => {
    const gateway = await startGateway(t, over(overrides), options)
    return { ...gateway, reload: (next) => gateway.reload(over(next)) }
  }
}

/** Like `test`, with the transport before the name. */
export function testOver(transport: TransportName): (name: string, run: (t: TestContext) => unknown) => void {
  return (name, run) => void test(`${transport}: ${name}`, (t) => run(t) as Promise<void>)
}
