/** Messages for the content-based routing and XSLT scenarios: stock orders in a SOAP envelope. */

/** Symbol in the first order of every message, used by the route's condition. */
export const FIRST_SYMBOL = 'IBM'
/** XPath of the first symbol, independent of prefixes. */
export const SYMBOL_XPATH = '//buyStocks/order[1]/symbol'

const BEGIN =
  '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><buyStocks>'
const END = '</buyStocks></soapenv:Body></soapenv:Envelope>'
const SYMBOLS = [FIRST_SYMBOL, 'ORCL', 'MSFT', 'SAPX', 'INTC', 'AMDX', 'CSCO', 'HPEX']

/**
 * Returns a message of exactly the given size: as many orders as fit, and a comment.
 * @throws RangeError if no order fits
 */
export function ordersXml(bytes: number): string {
  let orders = ''
  let number = 0
  let next = orderXml(number)
  const room = bytes - BEGIN.length - END.length
  while (orders.length + next.length <= room - COMMENT_BYTES || orders.length + next.length === room) {
    orders += next
    number++
    next = orderXml(number)
  }
  if (number === 0) throw new RangeError(`an order does not fit into ${bytes} bytes`)
  return `${BEGIN}${orders}${filling(room - orders.length)}${END}`
}

/** Length of the shortest comment, `<!---->`. */
const COMMENT_BYTES = 7

/** Returns a comment of exactly this length. */
function filling(bytes: number): string {
  return bytes === 0 ? '' : `<!--${'.'.repeat(bytes - COMMENT_BYTES)}-->`
}

/** Returns one order. Its numbers have a fixed width, so that all orders of a symbol have the same length. */
function orderXml(number: number): string {
  const symbol = SYMBOLS[number % SYMBOLS.length]!
  const buyer = String(1000 + (number % 9000))
  const volume = String(100 + ((number * 37) % 900))
  return `<order><symbol>${symbol}</symbol><buyerID>${buyer}</buyerID><price>${volume}.50</price><volume>${volume}</volume></order>`
}

/** Returns the XML Schema of the messages. */
export function ordersXsd(): string {
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:simpleType name="symbol"><xs:restriction base="xs:string"><xs:pattern value="[A-Z]{1,8}"/></xs:restriction></xs:simpleType>
    <xs:element name="buyStocks"><xs:complexType><xs:sequence>
      <xs:element name="order" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="symbol" type="symbol"/><xs:element name="buyerID" type="xs:positiveInteger"/>
        <xs:element name="price" type="xs:decimal"/><xs:element name="volume" type="xs:positiveInteger"/>
      </xs:sequence></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element>
  </xs:schema>`
}

/** Element names, each with its letters reversed. The request stylesheet reverses them, the response stylesheet restores them. */
const NAMES = ['buyStocks', 'order', 'symbol', 'buyerID', 'price', 'volume'].map((name) => [
  name,
  [...name].reverse().join(''),
]) as [string, string][]

/** Stylesheet that changes nothing. */
export const IDENTITY_STYLESHEET = stylesheet([])
/** Stylesheet that renames every element of an order. */
export const REQUEST_STYLESHEET = stylesheet(NAMES)
/** Stylesheet that restores the names. */
export const RESPONSE_STYLESHEET = stylesheet(NAMES.map(([name, reversed]) => [reversed, name]))

/** Returns an identity transformation with a template for each renamed element. */
function stylesheet(names: readonly (readonly [string, string])[]): string {
  const templates = names.map(
    ([from, to]) =>
      `<xsl:template match="${from}"><xsl:element name="${to}"><xsl:apply-templates select="@*|node()"/></xsl:element></xsl:template>`,
  )
  return [
    '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">',
    '<xsl:output method="xml" omit-xml-declaration="yes"/>',
    '<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>',
    ...templates,
    '</xsl:stylesheet>',
  ].join('\n')
}
