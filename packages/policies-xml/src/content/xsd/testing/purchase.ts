const XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'

/** A test schema in three documents, with include and import, derived types, keys, patterns and lists. */
export const PURCHASE_SCHEMAS = [
  {
    systemId: 'purchase/order.xsd',
    inline: `<?xml version="1.0" encoding="ISO-8859-9"?>
<xs:schema ${XS} targetNamespace="urn:purchase" xmlns="urn:purchase" xmlns:c="urn:common"
    elementFormDefault="qualified">
  <xs:include schemaLocation="lines.xsd"/>
  <xs:import namespace="urn:common" schemaLocation="../common.xsd"/>
  <xs:element name="order">
    <xs:complexType>
      <xs:sequence>
        <xs:element name="customer" type="c:Party"/>
        <xs:element name="line" type="Line" maxOccurs="unbounded"/>
        <xs:element name="gift" minOccurs="0" maxOccurs="unbounded">
          <xs:complexType><xs:attribute name="line" type="xs:int" use="required"/></xs:complexType>
        </xs:element>
        <xs:element name="note" type="xs:string" minOccurs="0"/>
      </xs:sequence>
      <xs:attribute name="id" type="xs:ID" use="required"/>
      <xs:attribute name="şehir" type="xs:string"/>
    </xs:complexType>
    <xs:key name="lineKey"><xs:selector xpath="line"/><xs:field xpath="@number"/></xs:key>
    <xs:keyref name="giftLine" refer="lineKey"><xs:selector xpath="gift"/><xs:field xpath="@line"/></xs:keyref>
  </xs:element>
</xs:schema>`
      .replaceAll('xpath="line"', 'xpath="p:line"')
      .replaceAll('xpath="gift"', 'xpath="p:gift"')
      .replace('xmlns="urn:purchase"', 'xmlns="urn:purchase" xmlns:p="urn:purchase"'),
  },
  {
    systemId: 'purchase/lines.xsd',
    inline: `<xs:schema ${XS} targetNamespace="urn:purchase" xmlns="urn:purchase" elementFormDefault="qualified">
  <xs:complexType name="Line">
    <xs:sequence>
      <xs:element name="article" type="Article"/>
      <xs:element name="sizes" type="Sizes"/>
      <xs:element name="price" type="Price"/>
    </xs:sequence>
    <xs:attribute name="number" type="xs:int" use="required"/>
  </xs:complexType>
  <xs:complexType name="WeighedLine">
    <xs:complexContent>
      <xs:extension base="Line"><xs:sequence><xs:element name="grams" type="xs:positiveInteger"/></xs:sequence>
      </xs:extension>
    </xs:complexContent>
  </xs:complexType>
  <xs:simpleType name="Article">
    <xs:restriction base="xs:string"><xs:pattern value="[A-Z]{2}-\\d{4}"/></xs:restriction>
  </xs:simpleType>
  <xs:simpleType name="Price">
    <xs:restriction base="xs:decimal"><xs:fractionDigits value="2"/><xs:minInclusive value="0"/></xs:restriction>
  </xs:simpleType>
  <xs:simpleType name="Sizes">
    <xs:restriction>
      <xs:simpleType><xs:list itemType="xs:unsignedByte"/></xs:simpleType>
      <xs:maxLength value="3"/>
    </xs:restriction>
  </xs:simpleType>
</xs:schema>`,
  },
  {
    systemId: 'common.xsd',
    inline: `<xs:schema ${XS} targetNamespace="urn:common" elementFormDefault="qualified">
  <xs:complexType name="Party">
    <xs:sequence>
      <xs:element name="name" type="xs:token"/>
      <xs:choice><xs:element name="email" type="xs:string"/><xs:element name="phone" type="xs:string"/></xs:choice>
    </xs:sequence>
  </xs:complexType>
</xs:schema>`,
  },
]

const CUSTOMER = '<customer><c:name>Ada</c:name><c:email>ada@example.com</c:email></customer>'

/** Returns a line of an order. */
export function line(number: number, inner = ''): string {
  return `<line number="${number}"><article>AB-${1000 + (number % 9000)}</article><sizes>1 2 255</sizes><price>12.50</price>${inner}</line>\n`
}

/** Returns an order with this content after its customer. */
export function order(content: string, customer = CUSTOMER): string {
  return (
    `<order xmlns="urn:purchase" xmlns:c="urn:common" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" id="o1">` +
    `${customer}\n${content}</order>`
  )
}

/** Returns a valid order with this number of lines, about 110 bytes each. */
export function orderOf(lines: number): string {
  return order(Array.from({ length: lines }, (_, i) => line(i + 1)).join(''))
}
