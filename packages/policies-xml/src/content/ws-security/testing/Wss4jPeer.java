import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.KeyGenerator;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.apache.wss4j.common.WSEncryptionPart;
import org.apache.wss4j.common.crypto.Merlin;
import org.apache.wss4j.common.ext.WSPasswordCallback;
import org.apache.wss4j.common.util.KeyUtils;
import org.apache.wss4j.dom.WSConstants;
import org.apache.wss4j.dom.engine.WSSConfig;
import org.apache.wss4j.dom.engine.WSSecurityEngine;
import org.apache.wss4j.dom.engine.WSSecurityEngineResult;
import org.apache.wss4j.dom.handler.RequestData;
import org.apache.wss4j.dom.message.WSSecEncrypt;
import org.apache.wss4j.dom.message.WSSecHeader;
import org.apache.wss4j.dom.message.WSSecSignature;
import org.apache.wss4j.dom.message.WSSecTimestamp;
import org.apache.wss4j.dom.message.WSSecUsernameToken;
import org.apache.wss4j.dom.util.WSSecurityUtil;
import org.w3c.dom.Document;

/**
 * WSS4J behind a pipe, one process for all cases: a line "verb options message" in, a line "ok answer" or
 * "error reason" out, the fields parted by tabs, messages and answers in Base64, options as name=value separated by
 * commas.
 */
public final class Wss4jPeer {
  private static final String ALIAS = "pair";
  private static final char[] NO_PASSWORD = "none".toCharArray();
  private static Merlin crypto;

  public static void main(String[] args) throws Exception {
    WSSConfig.init();
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    // What the libraries print must not come between the answers.
    System.setOut(System.err);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) out.println(reply(line.split("\t", -1)));
  }

  private static String reply(String[] fields) {
    try {
      return "ok\t" + encode(answer(fields[0], options(fields[1]), fields[2]));
    } catch (Exception problem) {
      return "error\t" + encode(problem.toString());
    }
  }

  private static String answer(String verb, Map<String, String> options, String payload) throws Exception {
    switch (verb) {
      case "keys":
        return useKeys(options.get("algorithm"), payload);
      case "secure":
        return secure(parse(payload), options);
      case "check":
        return check(parse(payload), options);
      default:
        throw new IllegalArgumentException(verb);
    }
  }

  /** The payload is the key in PKCS #8 and the certificate, parted by a colon. */
  private static String useKeys(String algorithm, String payload) throws Exception {
    String[] pair = payload.split(":");
    PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pair[0]));
    PrivateKey key = KeyFactory.getInstance(algorithm).generatePrivate(spec);
    byte[] der = Base64.getDecoder().decode(pair[1]);
    Certificate certificate =
        CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    store.setKeyEntry(ALIAS, key, NO_PASSWORD, new Certificate[] {certificate});
    crypto = new Merlin();
    crypto.setKeyStore(store);
    return "";
  }

  private static String secure(Document document, Map<String, String> options) throws Exception {
    WSSecHeader header = new WSSecHeader(document);
    header.insertSecurityHeader();
    for (String step : options.get("steps").split(" ")) {
      switch (step) {
        case "timestamp":
          WSSecTimestamp timestamp = new WSSecTimestamp(header);
          timestamp.setTimeToLive(300);
          timestamp.build();
          break;
        case "username":
          addUsername(header, options);
          break;
        case "sign":
          sign(header, options);
          break;
        case "encrypt":
          encrypt(header, options);
          break;
        default:
          throw new IllegalArgumentException(step);
      }
    }
    return text(document);
  }

  private static void addUsername(WSSecHeader header, Map<String, String> options) throws Exception {
    WSSecUsernameToken token = new WSSecUsernameToken(header);
    boolean isText = "text".equals(options.get("password"));
    token.setPasswordType(isText ? WSConstants.PASSWORD_TEXT : WSConstants.PASSWORD_DIGEST);
    token.setUserInfo(options.get("user"), options.get("secret"));
    if (isText) {
      token.addNonce();
      token.addCreated();
    }
    token.build();
  }

  private static void sign(WSSecHeader header, Map<String, String> options) throws Exception {
    WSSecSignature signature = new WSSecSignature(header);
    signature.setUserInfo(ALIAS, new String(NO_PASSWORD));
    signature.setKeyIdentifierType(identifier(options.get("keyInfo")));
    if (options.containsKey("algorithm")) signature.setSignatureAlgorithm(options.get("algorithm"));
    if (options.containsKey("digest")) signature.setDigestAlgo(options.get("digest"));
    if (options.containsKey("c14n")) signature.setSigCanonicalization(options.get("c14n"));
    signature.setAddInclusivePrefixes(!"no".equals(options.get("prefixes")));
    for (String part : options.getOrDefault("parts", "Body Timestamp").split(" ")) {
      signature.getParts().add(new WSEncryptionPart(part, namespaceOf(part, header), "Content"));
    }
    signature.build(crypto);
  }

  private static String namespaceOf(String part, WSSecHeader header) {
    if (part.equals("Timestamp")) return WSConstants.WSU_NS;
    if (part.equals("UsernameToken")) return WSConstants.WSSE_NS;
    return header.getSecurityHeaderElement().getOwnerDocument().getDocumentElement().getNamespaceURI();
  }

  private static void encrypt(WSSecHeader header, Map<String, String> options) throws Exception {
    WSSecEncrypt encryption = new WSSecEncrypt(header);
    encryption.setUserInfo(ALIAS);
    encryption.setKeyIdentifierType(identifier(options.get("encKeyInfo")));
    String cipher = options.getOrDefault("cipher", WSConstants.AES_256_GCM);
    encryption.setSymmetricEncAlgorithm(cipher);
    if (options.containsKey("transport")) encryption.setKeyEncAlgo(options.get("transport"));
    if (options.containsKey("oaepDigest")) encryption.setDigestAlgorithm(options.get("oaepDigest"));
    if (options.containsKey("mgf")) encryption.setMGFAlgorithm(options.get("mgf"));
    for (String part : options.getOrDefault("encParts", "Body").split(" ")) {
      boolean isToken = !part.equals("Body");
      String namespace = part.equals("Signature") ? WSConstants.SIG_NS : namespaceOf(part, header);
      encryption.getParts().add(new WSEncryptionPart(part, namespace, isToken ? "Element" : "Content"));
    }
    KeyGenerator generator = KeyUtils.getKeyGenerator(cipher);
    encryption.build(crypto, generator.generateKey());
  }

  private static int identifier(String name) {
    if (name == null || name.equals("token")) return WSConstants.BST_DIRECT_REFERENCE;
    if (name.equals("thumbprint")) return WSConstants.THUMBPRINT_IDENTIFIER;
    if (name.equals("issuer-serial")) return WSConstants.ISSUER_SERIAL;
    if (name.equals("certificate")) return WSConstants.X509_KEY_IDENTIFIER;
    return WSConstants.SKI_KEY_IDENTIFIER;
  }

  /** Answers with the numbers of what was found and is right, and the message as it is then. */
  private static String check(Document document, Map<String, String> options) throws Exception {
    RequestData request = new RequestData();
    request.setSigVerCrypto(crypto);
    request.setDecCrypto(crypto);
    request.setCallbackHandler(passwords(options));
    WSSecurityEngine engine = new WSSecurityEngine();
    List<String> actions = new ArrayList<>();
    var header = WSSecurityUtil.getSecurityHeader(document, options.getOrDefault("actor", null));
    if (header == null) throw new IllegalStateException("no Security header");
    for (WSSecurityEngineResult result : engine.processSecurityHeader(header, request).getResults()) {
      actions.add(String.valueOf(result.get(WSSecurityEngineResult.TAG_ACTION)));
    }
    return String.join(" ", actions) + "\n" + text(document);
  }

  private static CallbackHandler passwords(Map<String, String> options) {
    return callbacks -> {
      for (Callback callback : callbacks) {
        WSPasswordCallback wanted = (WSPasswordCallback) callback;
        boolean isUser = wanted.getUsage() == WSPasswordCallback.USERNAME_TOKEN;
        wanted.setPassword(isUser ? options.get("secret") : new String(NO_PASSWORD));
      }
    };
  }

  private static Map<String, String> options(String text) {
    Map<String, String> options = new HashMap<>();
    for (String option : text.split(",")) {
      int equals = option.indexOf('=');
      if (equals > 0) options.put(option.substring(0, equals), option.substring(equals + 1));
    }
    return options;
  }

  private static Document parse(String base64) throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    return factory.newDocumentBuilder().parse(new ByteArrayInputStream(Base64.getDecoder().decode(base64)));
  }

  private static String text(Document document) throws Exception {
    Transformer transformer = TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty(OutputKeys.ENCODING, "UTF-8");
    StringWriter writer = new StringWriter();
    transformer.transform(new DOMSource(document), new StreamResult(writer));
    return writer.toString();
  }

  private static String encode(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
