import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RouteDelivery } from './route-delivery.js'

/** The worker's side of the delivery. */
class Receiver {
  readonly routes = new Map<number, string>()
  sent = 0

  receive({ numbers, parts, forgotten }: ReturnType<RouteDelivery['deliver']>): (string | undefined)[] {
    for (const [number, text] of parts.flat()) {
      this.routes.set(number, text)
      this.sent++
    }
    const texts = Array.from(numbers, (number) => this.routes.get(number))
    for (const number of forgotten) this.routes.delete(number)
    return texts
  }
}

test("a worker receives each bundle's routes, and keeps those of this and the active one", () => {
  const bundle = fc.uniqueArray(
    fc.integer({ min: 0, max: 9 }).map((n) => `route ${n}`),
    { maxLength: 8 },
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(bundle, fc.boolean())), (bundles) => {
      const [delivery, receiver] = [new RouteDelivery(), new Receiver()]
      let serving: readonly string[] = []
      for (const [texts, isActivated] of bundles) {
        assert.deepEqual(receiver.receive(delivery.deliver(texts)), texts)
        assert.deepEqual(new Set(receiver.routes.values()), new Set([...texts, ...serving]))
        if (!isActivated) continue
        delivery.activated()
        serving = texts
      }
    }),
  )
})

test('a route is sent once, and many routes in messages of a bounded size', () => {
  const [delivery, receiver] = [new RouteDelivery(), new Receiver()]
  const texts = Array.from({ length: 1000 }, (_, i) => `${i} ${'x'.repeat(1000)}`)
  const first = delivery.deliver(texts)
  assert.equal(first.parts.length, 4)
  receiver.receive(first)
  delivery.activated()
  const changed = texts.with(500, 'another')
  receiver.receive(delivery.deliver(changed))
  assert.equal(receiver.sent, 1001)
})
