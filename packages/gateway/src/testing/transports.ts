import { type TestContext, test } from 'node:test'
import type { UpstreamPlan } from '@sluice/config'
import { type PlanOverrides, startGateway, type TestGateway, type TestGatewayOptions } from './gateway.js'

/** The HTTP clients towards targets; what is true of one has to be true of the other. */
export const TRANSPORTS = ['undici', 'wire'] as const

export type TransportName = (typeof TRANSPORTS)[number]

/** What an upstream's plan says to get a transport. */
export const OVER = {
  undici: { transport: 'undici' },
  wire: { transport: 'wire' },
} as const satisfies Record<TransportName, Partial<UpstreamPlan>>

type StartGateway = (
  t: TestContext,
  overrides: PlanOverrides,
  options?: TestGatewayOptions,
) => Promise<TestGateway>

/** `startGateway` with one transport for all upstreams. */
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

/** `test` with the transport in front of the name. */
export function testOver(transport: TransportName): (name: string, run: (t: TestContext) => unknown) => void {
  return (name, run) => void test(`${transport}: ${name}`, (t) => run(t) as Promise<void>)
}
