import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'

/** A line of a chart. */
interface Line {
  readonly name: string
  /** Custom property of the style sheet with the colour. */
  readonly colour: string
  readonly values: readonly (number | null)[]
  readonly isFilled?: boolean
}

interface ChartProps {
  readonly title: string
  readonly timesMs: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
}

const HEIGHT = 190

/** A chart over the last minutes. Screen readers get the latest values instead. */
export function Chart({ title, timesMs, lines, format }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  useEffect(() => {
    const element = place.current!
    const draw = (): void => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(element, lines, format), [[]], element)
    }
    draw()
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    resized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      scheme.removeEventListener('change', draw)
      resized.disconnect()
      plot.current?.destroy()
    }
  }, [])
  useEffect(() => {
    const seconds = timesMs.map((ms) => ms / 1000)
    plot.current?.setData([seconds, ...lines.map(({ values }) => [...values])])
  })
  const latest = lines.map(({ name, values }) => `${name} ${valueText(values.at(-1), format)}`).join(', ')
  return (
    <figure class="chart">
      <figcaption>
        {lines.map(({ name, colour, values }) => (
          <span key={name} class={`legend ${colour}`}>
            {name} <b>{valueText(values.at(-1), format)}</b>
          </span>
        ))}
      </figcaption>
      <div ref={place} role="img" aria-label={`${title}, the last minutes: now ${latest}`} />
    </figure>
  )
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}

function optionsOf(
  element: HTMLElement,
  lines: readonly Line[],
  format: (value: number) => string,
): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  const axis = { stroke: colour('soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 26, 0, 0],
    scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.15, 0.001)] } },
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: 80, values: (_, seconds) => seconds.map(timeText) },
      { ...axis, size: 62, values: (_, values) => values.map(format) },
    ],
    series: [
      {},
      ...lines.map(({ name, colour: line, isFilled }) => ({
        label: name,
        stroke: colour(line),
        width: 2,
        points: { show: false },
        ...(isFilled === true ? { fill: `${colour(line)}22` } : {}),
      })),
    ],
  }
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB')
}
