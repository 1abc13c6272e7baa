import { type TestContext, test } from 'node:test'
import {
  type PlanOverrides,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '../../testing/gateway.js'

/** Listener engine. */
export type Engine = 'uws' | 'node'

/** Starts a gateway whose listener uses the engine under test. */
export type StartGateway = (
  t: TestContext,
  overrides: PlanOverrides,
  options?: TestGatewayOptions,
) => Promise<TestGateway>

/** Defines a test for each engine, or only for those that support the feature (docs/guides/engines.md). */
export function testEngines(
  name: string,
  body: (t: TestContext, start: StartGateway, engine: Engine) => Promise<void>,
  engines: readonly Engine[] = ['uws', 'node'],
): void {
  for (const engine of engines) {
    const start: StartGateway = (t, overrides, options) =>
      startGateway(t, { ...overrides, listener: { ...overrides.listener, engine } }, options)
    test(`${engine}: ${name}`, (t) => body(t, start, engine))
  }
}
