import type { Span } from '../data/spans.js'
import { latencyText } from '../data/text.js'

/** Narrowest bar in percent, so that short spans stay visible. */
const MIN_WIDTH = 0.5

/** A timeline: one bar per span. Screen readers get a table with start and duration. */
export function Waterfall({ caption, spans }: { caption: string; spans: readonly Span[] }) {
  const totalMs = Math.max(0.001, ...spans.map(({ startMs, ms }) => startMs + ms))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="scroll" tabIndex={0} aria-label={caption}>
      <table class="waterfall">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" class="number extra">
              Start
            </th>
            <th scope="col" class="number">
              Time
            </th>
            <th scope="col" class="bars">
              <span class="hidden">Bar</span>
              <span aria-hidden="true" class="scale">
                <span>0</span>
                <span>{latencyText(totalMs / 2)}</span>
                <span>{latencyText(totalMs)}</span>
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          {spans.map((span, i) => (
            <tr key={i}>
              <td class={`depth${Math.min(span.depth, 5)}`}>
                {span.href === null ? span.name : <a href={span.href}>{span.name}</a>}{' '}
                <span class="soft">{span.note}</span>
              </td>
              <td class="number extra">{timeText(span.startMs)}</td>
              <td class="number">{timeText(span.ms)}</td>
              <td aria-hidden="true">
                <div class="track">
                  <div
                    class={`bar ${span.tone}`}
                    style={{
                      left: `${Math.min(100 - MIN_WIDTH, (span.startMs / totalMs) * 100)}%`,
                      width: `${Math.max(MIN_WIDTH, (span.ms / totalMs) * 100)}%`,
                    }}
                  />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function timeText(ms: number): string {
  return `${ms < 1 ? ms.toFixed(3) : ms.toFixed(1)} ms`
}
