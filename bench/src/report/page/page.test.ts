import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadOf } from '../../measure/spread.js'
import type { Summary } from '../../model/summary.js'
import { elementsOf, type MarkupElement, markupTree, textOf } from '../../testing/markup-tree.js'
import { samplePolicyRun, sampleRun } from '../../testing/sample-run.js'
import { samplePoint, sampleSpectrum, sampleSummary } from '../../testing/sample-summary.js'
import { sampleTrial } from '../../testing/sample-trial.js'
import { reportHtml } from './page.js'

const HOSTILE = `<script>alert("1")</script>&amp;'\u0000\ud800]]>`

function page(summary: Summary): MarkupElement {
  return markupTree(reportHtml(summary))
}

function cellsOf(tree: MarkupElement, table: string): string[][] {
  const found = elementsOf(tree, 'table').find(({ attributes }) => attributes['aria-label'] === table)!
  return elementsOf(found, 'tr').map((row) =>
    row.children.map((cell) => (typeof cell === 'string' ? '' : textOf(cell))),
  )
}

function chartTitles(tree: MarkupElement): string[] {
  return elementsOf(tree, 'svg').flatMap((svg) => elementsOf(svg, 'title').map(textOf))
}

test('the report of every kind of run is well-formed, with unique ids', () => {
  for (const summary of [
    sampleRun(),
    sampleRun({ nginx: 0.9, envoy: 2 }),
    samplePolicyRun(),
    sampleSummary([]),
  ]) {
    const ids = [...reportHtml(summary).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(page(summary).name, 'html')
  }
})

test('the report needs no network and no script', () => {
  const text = reportHtml(sampleRun({ nginx: 0.9 }))
  assert.doesNotMatch(text, /https?:|\/\/[a-z]|url\(|@import|<script|<link|<img|<iframe|\son\w+=/i)
  const links = elementsOf(markupTree(text), 'a').map(({ attributes }) => attributes.href)
  assert.ok(links.length > 3 && links.every((href) => href!.startsWith('#')))
})

test('every link of the contents leads to a section', () => {
  const tree = page(sampleRun())
  const ids = elementsOf(tree, 'section').map(({ attributes }) => `#${attributes.id}`)
  assert.deepEqual(
    elementsOf(tree, 'a').map(({ attributes }) => attributes.href),
    ids,
  )
})

test('text from elsewhere is shown and never obeyed', () => {
  const point = samplePoint({ title: HOSTILE, contestant: HOSTILE, scenario: HOSTILE })
  const invalid = { ...point, invalid: [HOSTILE] }
  const host = { ...sampleSummary([]).host, cpuModel: HOSTILE, versions: { [HOSTILE]: HOSTILE } }
  const summary = sampleSummary([samplePoint(), point, invalid], {
    suite: HOSTILE,
    id: HOSTILE,
    command: HOSTILE,
    engine: HOSTILE,
    startedAt: HOSTILE,
    warnings: [HOSTILE],
    host,
  })
  const tree = page(summary)
  assert.deepEqual(elementsOf(tree, 'script'), [])
  assert.match(textOf(tree), /<script>alert\("1"\)<\/script>&amp;'\ufffd\ufffd\]\]>/)
})

test('every chart has a title, a description and its figures as a table', () => {
  const figures = elementsOf(page(sampleRun({ nginx: 0.9 })), 'figure')
  assert.ok(figures.length > 10)
  for (const figure of figures) {
    const svg = elementsOf(figure, 'svg').find(({ attributes }) => attributes.role === 'img')!
    const [title, description] = [elementsOf(svg, 'title')[0]!, elementsOf(svg, 'desc')[0]!]
    assert.equal(svg.attributes['aria-labelledby'], `${title.attributes.id} ${description.attributes.id}`)
    assert.ok(textOf(title).length > 0 && textOf(description).length > 0)
    assert.ok(elementsOf(figure, 'tbody').length === 1)
  }
})

test('a run has the charts that its points allow', () => {
  const titles = chartTitles(page(sampleRun({ nginx: 0.9 }))).join('\n')
  for (const wanted of [
    'CPU time of a request',
    'W1 GET: throughput',
    'W1 GET: P99 at overload',
    'W1 GET: latency against rate',
    'Traffic log off and on',
    'Scaling over tiers',
    'W1 GET: percentiles',
  ])
    assert.ok(titles.includes(wanted), wanted)
  assert.deepEqual(chartTitles(page(samplePolicyRun())), [
    'Throughput',
    'What a policy costs',
    'GET: percentiles at overload',
    'POST 1 KB: percentiles at overload',
  ])
})

test('a chain of policies is shown by its policies', () => {
  const point = (scenario: string, micros: number) =>
    samplePoint({ suite: 'policies', scenario, cpuMicrosPerRequest: spreadOf([micros]) })
  const tree = page(
    sampleSummary([point('base-post-1kb', 40), point('chain-ip-filter-basic-auth-header-post-1kb', 46)]),
  )
  const chart = elementsOf(tree, 'figure').find((figure) => textOf(figure).includes('What a policy costs'))!
  const labels = elementsOf(chart, 'text').filter(({ attributes }) => attributes.class === 'group')
  assert.deepEqual(labels.map(textOf), ['chain ip-filter, basic-auth, header'])
})

test('the table shows the percentiles that were measured', () => {
  const steps = [
    [50, 812],
    [75, 900],
    [90, 1234],
    [95, 2000],
    [99, 45_600],
    [99.9, 1_210_000],
    [99.99, 2_000_000],
  ] as const
  const percentiles = steps.map(([percentile, micros]) => ({ percentile, micros }))
  const latency = sampleSpectrum(812, { percentiles })
  const held = samplePoint({ kind: 'fixed-rate', targetPerSecond: 5000, latency })
  const [head, saturated, fixed] = cellsOf(
    page(sampleSummary([samplePoint({ latency }), held])),
    'All points',
  )
  const at = head!.indexOf('P50')
  assert.deepEqual(head!.slice(at, at + 4), ['P50', 'P90', 'P99', 'P99.9'])
  assert.deepEqual(fixed!.slice(at, at + 4), ['812 µs', '1.23 ms', '45.6 ms', '1.21 s'])
  assert.deepEqual(saturated!.slice(at, at + 4), ['(812 µs)', '(1.23 ms)', '(45.6 ms)', '(1.21 s)'])
})

test('a point that is no result shows its reasons, no figures, and is in no chart', () => {
  const invalid = samplePoint({
    title: 'W9 odd',
    scenario: 'w9-odd',
    contestant: 'odd-proxy',
    perSecond: spreadOf([987_654]),
    invalid: ['the generator was the bottleneck', '3 % of the answers were no 2xx'],
  })
  const tree = page(sampleSummary([samplePoint(), samplePoint({ connections: 250 }), invalid]))
  const row = cellsOf(tree, 'All points').find(([title]) => title === 'W9 odd')!
  assert.match(row.join(' '), /INVALID the generator was the bottleneck; 3 % of the answers were no 2xx/)
  assert.doesNotMatch(textOf(tree), /987,654/)
  assert.doesNotMatch(elementsOf(tree, 'figure').map(textOf).join(' '), /odd/)
  assert.match(textOf(tree), /No result: 1 of 3 points/)
})

test('each worker has what the kernel and its log say of it, and dashes where nobody looked', () => {
  const [old] = samplePoint().diagnostics
  const log = { queuedRecords: 4000, lagMicros: 1_500_000, droppedRecords: 7 }
  const use = { cpuMicros: 9_000_000, voluntarySwitches: 1200, involuntarySwitches: 8 }
  const diagnostics = [old!, { ...old!, worker: 1, ...use, log }]
  const [head, before, now] = cellsOf(
    page(sampleSummary([samplePoint({ diagnostics, upstreamWaits: 12_000 })])),
    'Workers',
  )
  const names = ['CPU time', 'waits', 'displaced', 'log queue', 'log lag', 'log drops']
  const cells = (row: readonly string[]): (string | undefined)[] =>
    names.map((name) => row[head!.indexOf(name)])
  assert.deepEqual(cells(now!), ['9 s', '1,200', '8', '4,000', '1.5 s', '7'])
  assert.deepEqual(cells(before!), Array(6).fill('–'))
  assert.deepEqual([head!.at(-1), before!.at(-1), now!.at(-1)], ['upstream waits of all', '12,000', '12,000'])
})

test('contestants stand side by side with our ratio to each', () => {
  const points = [
    samplePoint({ cpuMicrosPerRequest: spreadOf([46]) }),
    samplePoint({ contestant: 'nginx', cpuMicrosPerRequest: spreadOf([40]) }),
  ]
  const [head, row] = cellsOf(page(sampleSummary(points)), 'CPU time of a request side by side')
  assert.equal(row![head!.indexOf('sluice / nginx')], '1.15')
  assert.equal(row![head!.indexOf('nginx µs')], '40.0')
})

test('a contestant has one colour, also where another has no result', () => {
  const names = ['sluice', 'envoy', 'haproxy', 'nginx']
  const points = ['w1-get', 'w2-get'].flatMap((scenario) =>
    [100, 250].flatMap((connections) =>
      names.map((contestant) => {
        const invalid = scenario === 'w1-get' && contestant === 'envoy' ? ['no'] : []
        return samplePoint({ scenario, connections, contestant, invalid })
      }),
    ),
  )
  const colors = new Map<string, Set<string>>()
  const entries = elementsOf(page(sampleSummary(points)), 'li')
  for (const entry of entries.filter((each) => elementsOf(each, 'svg').length > 0)) {
    const shape = elementsOf(entry, 'path')[0] ?? elementsOf(entry, 'rect')[0]!
    const known = colors.get(textOf(entry)) ?? new Set<string>()
    colors.set(textOf(entry), known.add(/s\d/.exec(shape.attributes.class!)![0]))
  }
  assert.deepEqual(
    names.map((name) => [...colors.get(name)!]),
    [['s0'], ['s1'], ['s2'], ['s3']],
  )
})

test('published figures are labelled with their hardware and have a ratio at saturation only', () => {
  const held = samplePoint({ kind: 'fixed-rate', targetPerSecond: 1500, perSecond: spreadOf([1500]) })
  const tree = page(sampleSummary([samplePoint({ connections: 500, perSecond: spreadOf([16_380]) }), held]))
  const [head, saturated, fixed] = cellsOf(tree, 'Published figures beside ours')
  assert.equal(saturated![head!.indexOf('ratio')], '10.00 ×')
  assert.equal(fixed![head!.indexOf('ratio')], '–')
  assert.equal(fixed![head!.indexOf('their P99')], '3.15 s')
  assert.match(textOf(tree), /Intel Broadwell 2\.0 GHz/)
})

test('a run without a result still says so', () => {
  const tree = page(
    sampleSummary([samplePoint({ invalid: ['not quiet'] })], { warnings: ['nothing was measured'] }),
  )
  assert.deepEqual(elementsOf(tree, 'figure'), [])
  assert.match(textOf(tree), /0 of 1/)
  assert.match(textOf(tree), /nothing was measured/)
})

test('trials have a section of their own in place of points, and those not passed are told at the top', () => {
  const failed = sampleTrial({ id: 'a', title: 'a <b>', failures: ['3 records are lost'] })
  const none = sampleTrial({ title: 'b', invalid: ['it was stopped after 2 of 60 s'] })
  const tree = page(sampleSummary([], { trials: [sampleTrial(), failed, none] }))
  const [headings, ...rows] = cellsOf(tree, 'Trials')
  assert.deepEqual([headings![0], headings!.at(-1)], ['trial', 'verdict'])
  assert.deepEqual(
    rows.map((cells) => [cells[0], cells.at(-1)]),
    [
      ['worker killed', 'passed'],
      ['a <b>', 'FAILED: 3 records are lost'],
      ['b', 'no result: it was stopped after 2 of 60 s'],
    ],
  )
  const notices = elementsOf(tree, 'div').filter(({ attributes }) => attributes['class'] === 'notice bad')
  assert.deepEqual(notices.map(textOf), [
    'Trials that are not passeda <b>: 3 records are lost',
    'Trials that are no resultb: it was stopped after 2 of 60 s',
  ])
  const ids = elementsOf(tree, 'section').map(({ attributes }) => attributes['id'])
  assert.ok(ids.includes('trials') && !ids.includes('points'))
})
