import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { wrk } from './wrk.js'
import { wrk2, wrk2Spectrum } from './wrk2.js'

/** Composed after the form that wrk2 prints. */
function section(title: string, rows: readonly string[]): string {
  return `  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.60ms    1.92ms  12.50ms   68.46%
    Req/Sec     1.04k     1.08k    2.50k    72.79%
  Latency Distribution (HdrHistogram - ${title})
 50.000%    2.67ms
 75.000%    3.78ms
100.000%   12.50ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

${rows.join('\n')}
#[Mean    =        2.602, StdDeviation   =        1.919]
#[Max     =       12.496, Total count    =        19500]
#[Buckets =           27, SubBuckets     =         2048]
----------------------------------------------------------
  20018 requests in 10.00s, 7.81MB read
`
}

const ROWS = [
  '       0.921     0.000000            1         1.00',
  '       1.053     0.100000         1951         1.11',
  '       2.671     0.500000         9783         2.00',
  '       3.783     0.750000        14644         4.00',
  '       9.143     0.900000        17570        10.00',
  '      10.015     0.950000        18543        20.00',
  '      11.135     0.989062        19290        91.43',
  '      11.207     0.990625        19335       106.67',
  '      12.271     0.998828        19454       853.33',
  '      12.311     0.999023        19463      1024.00',
  '      12.463     0.999902        19498     10240.00',
  '      12.503     1.000000        19500          inf',
]

test('the spectrum of wrk2 is read in microseconds, a percentile between two rows from the upper', () => {
  const spectrum = wrk2Spectrum(section('Recorded Latency', ROWS), true)!
  const micros = Object.fromEntries(spectrum.percentiles.map((point) => [point.percentile, point.micros]))
  assert.equal(spectrum.isCorrected, true)
  assert.equal(spectrum.count, 19_500)
  assert.equal(Math.round(spectrum.meanMicros), 2602)
  assert.equal(Math.round(spectrum.stdevMicros), 1919)
  assert.equal(spectrum.maxMicros, 12_496)
  assert.deepEqual(
    [50, 75, 90, 95, 99, 99.9, 99.99].map((wanted) => micros[wanted]),
    [2671, 3783, 9143, 10_015, 11_207, 12_311, 12_463],
  )
  assert.equal(spectrum.hdr, null)
})

test('without a rate the uncorrected spectrum is read, and a text without one gives none', () => {
  const title = 'Uncorrected Latency (measured without taking delayed starts into account)'
  assert.equal(wrk2Spectrum(section(title, ROWS), false)!.isCorrected, false)
  assert.equal(wrk2Spectrum('unable to connect', true), null)
  assert.equal(wrk2Spectrum(section('Recorded Latency', []).replace('19500', '0'), true), null)
})

/** wrk in the place of wrk2: it takes the same script and options but for the rate, and prints another spectrum. */
function standIn(dir: string): string {
  return `#!/bin/sh
case "$1" in -v) exec wrk -v ;; esac
echo "$@" >> ${dir}/arguments
for each; do
  shift
  case "$each" in -R* | --latency | --u_latency) ;; *) set -- "$@" "$each" ;; esac
done
wrk "$@" || exit $?
cat ${dir}/spectrum
`
}

test('wrk2 is told the rate, and its result is put together from script and text', {
  skip: wrk.version() === null,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-wrk2-'))
  const path = process.env.PATH
  const server = http.createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    process.env.PATH = path
    server.close()
    server.closeAllConnections()
    rmSync(dir, { recursive: true, force: true })
  })
  writeFileSync(join(dir, 'wrk2'), standIn(dir))
  chmodSync(join(dir, 'wrk2'), 0o755)
  writeFileSync(join(dir, 'spectrum'), section('Recorded Latency', ROWS))
  process.env.PATH = `${dir}:${path}`
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const call = { method: 'GET', path: '/', headers: {}, body: null } as const
  const order = { origin, call, connections: 4, warmUpSeconds: 1, seconds: 1, cpu: null, dir }

  assert.equal(wrk2.version(), wrk.version())
  const result = await wrk2.run({ ...order, perSecond: 300 })
  assert.ok(result.requests > 0 && result.seconds > 0.9 && result.busyShare > 0)
  assert.equal(result.latency!.count, 19_500)
  assert.ok(result.receivedBytes! > 0 && result.sentBytes! > 0)
  const [warmUp, measured] = readFileSync(join(dir, 'arguments'), 'utf8').split('\n')
  assert.equal(warmUp, measured)
  assert.match(measured!, /^-t1 -c4 -d1s -R300 --latency --timeout 10s -s \S+ http:\S+$/)
})
