package interop;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * The Java client of the A2A project on the scenarios. Takes one ClientInput (see ../../../scenarios.ts) as JSON, prints
 * one ClientLine per line.
 */
public final class Main {
    record Fingerprint(int utf8Bytes, String sha256) {}

    record Input(
            String edge,
            String binding,
            String cardBase,
            String headersUrl,
            List<String> scenarios,
            JsonElement data,
            Fingerprint large) {}

    private static final Gson GSON = new Gson();

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Input input = GSON.fromJson(arguments[0], Input.class);
        say(Map.of("client", "a2a-java-sdk", "version", clientVersion(), "runtime", "Java " + Runtime.version()));
        Scenarios scenarios = new Scenarios(input, new Session(input));
        for (String name : input.scenarios()) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("scenario", name);
            try {
                String detail = scenarios.play(name);
                line.put("ok", true);
                line.put("detail", detail);
            } catch (Exception | LinkageError error) {
                line.put("ok", false);
                line.put("detail", describe(error));
            }
            say(line);
        }
        // The client's HTTP threads are not ours to stop.
        System.exit(0);
    }

    private static String describe(Throwable error) {
        StringBuilder text = new StringBuilder();
        for (Throwable each = error; each != null; each = each.getCause()) {
            text.append(text.isEmpty() ? "" : ", because of ").append(each);
        }
        return text.toString();
    }

    private static String clientVersion() throws Exception {
        String path = "/META-INF/maven/org.a2aproject.sdk/a2a-java-sdk-client/pom.properties";
        try (InputStream stream = Main.class.getResourceAsStream(path)) {
            Properties properties = new Properties();
            properties.load(stream);
            return properties.getProperty("version");
        }
    }

    private static void say(Map<String, ?> line) {
        System.out.println(GSON.toJson(line));
    }
}
