import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** A titled section. */
export function Card({
  title,
  children,
  note,
}: {
  title: string
  children: ComponentChildren
  note?: string
}) {
  return (
    <section class="card">
      <h2>
        {title}
        {note === undefined ? null : <span class="note">{note}</span>}
      </h2>
      {children}
    </section>
  )
}

/** A figure with its name. */
export function Figure({ name, value, tone = '' }: { name: string; value: string; tone?: string }) {
  return (
    <div class={`figure ${tone}`}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** A word with a colour, such as a state. */
export function Badge({
  tone,
  children,
}: {
  tone: 'good' | 'warn' | 'bad' | 'plain'
  children: ComponentChildren
}) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** Shows why something is missing. */
export function Problem({ text }: { text: string | null }) {
  return text === null ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  )
}

/** A column of a table. */
export interface Column<T> {
  readonly title: string
  readonly cell: (row: T) => ComponentChildren
  /** Value to sort by; absent: the column cannot be sorted. */
  readonly by?: (row: T) => string | number
  readonly isNumber?: boolean
  /** True to hide the column on narrow screens. */
  readonly isExtra?: boolean
  /** True to show the cell on a line of its own, below the others, on narrow screens. */
  readonly isWide?: boolean
}

interface TableProps<T> {
  readonly caption: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  /** Title of the column to sort by at first, downwards; absent: the given order. */
  readonly sortedBy?: string
  readonly empty: string
}

/** A table whose columns can be sorted. */
export function Table<T>({ caption, columns, rows, keyOf, sortedBy, empty }: TableProps<T>) {
  const [order, setOrder] = useState({ title: sortedBy ?? '', isDown: true })
  const column = columns.find(({ title }) => title === order.title)
  const sorted = column?.by === undefined ? rows : sortedRows(rows, column.by, order.isDown)
  const classOf = ({ isNumber, isExtra, isWide }: Column<T>): string =>
    `${isNumber === true ? 'number' : ''} ${isExtra === true ? 'extra' : ''} ${isWide === true ? 'wide' : ''}`
  if (rows.length === 0) return <p class="empty">{empty}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="scroll" tabIndex={0} aria-label={caption}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((each) => (
              <th
                key={each.title}
                scope="col"
                class={classOf(each)}
                {...(each.title === column?.title
                  ? { 'aria-sort': order.isDown ? 'descending' : 'ascending' }
                  : {})}
              >
                {each.by === undefined ? (
                  each.title
                ) : (
                  <button
                    type="button"
                    onClick={() =>
                      setOrder({
                        title: each.title,
                        isDown: each.title === order.title ? !order.isDown : true,
                      })
                    }
                  >
                    {each.title}
                    <span aria-hidden="true" class="arrow">
                      {each.title !== column?.title ? '' : order.isDown ? ' ▾' : ' ▴'}
                    </span>
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((each) => (
                <td key={each.title} class={classOf(each)}>
                  {each.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function sortedRows<T>(rows: readonly T[], by: (row: T) => string | number, isDown: boolean): T[] {
  const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)
  return rows.toSorted((a, b) => compare(by(a), by(b)) * (isDown ? -1 : 1))
}
