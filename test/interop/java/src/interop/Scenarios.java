package interop;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.a2aproject.sdk.A2A;
import org.a2aproject.sdk.jsonrpc.common.wrappers.ListTasksResult;
import org.a2aproject.sdk.spec.ListTasksParams;
import org.a2aproject.sdk.spec.Part;
import org.a2aproject.sdk.spec.Task;
import org.a2aproject.sdk.spec.TaskNotCancelableError;
import org.a2aproject.sdk.spec.TaskNotFoundError;
import org.a2aproject.sdk.spec.TextPart;
import org.a2aproject.sdk.spec.UnsupportedOperationError;

/** Each answers what was seen, or throws what was wrong. */
final class Scenarios {
    private final Main.Input input;
    private final Session session;
    private final Map<String, Callable<String>> all = Map.ofEntries(
            Map.entry("card", this::card),
            Map.entry("send", this::send),
            Map.entry("poll", this::poll),
            Map.entry("stream", this::stream),
            Map.entry("resubscribe", this::resubscribe),
            Map.entry("get", this::get),
            Map.entry("list", this::list),
            Map.entry("page", this::page),
            Map.entry("cancel", this::cancel),
            Map.entry("errors", this::errors),
            Map.entry("finished-stream", this::finishedStream),
            Map.entry("follow-up", this::followUp),
            Map.entry("large", this::large),
            Map.entry("quiet", this::quiet));

    Scenarios(Main.Input input, Session session) {
        this.input = input;
        this.session = session;
    }

    String play(String name) throws Exception {
        Callable<String> scenario = all.get(name);
        if (scenario == null) throw new Failure("this client does not know the scenario");
        return scenario.call();
    }

    private static final class Failure extends Exception {
        Failure(String message) {
            super(message);
        }
    }

    private static void equal(Object seen, Object wanted, String what) throws Failure {
        if (!Objects.equals(seen, wanted)) throw new Failure(what + ": " + seen + " instead of " + wanted);
    }

    private static String textOf(List<Part<?>> parts) {
        return parts.stream()
                .map(part -> part instanceof TextPart text ? text.text() : "")
                .collect(Collectors.joining());
    }

    private static String artifactText(Task task) {
        return task.artifacts().stream().map(artifact -> textOf(artifact.parts())).collect(Collectors.joining());
    }

    private static String statusText(Task task) {
        return task.status().message() == null ? "" : textOf(task.status().message().parts());
    }

    private static String stateOf(Task task) {
        return task.status().state().name();
    }

    private static Throwable refusal(Callable<?> call) throws Failure {
        try {
            call.call();
        } catch (Exception error) {
            return error;
        }
        throw new Failure("it was not refused");
    }

    private static void isCausedBy(Throwable error, Class<? extends Throwable> kind) throws Exception {
        for (Throwable each = error; each != null; each = each.getCause()) if (kind.isInstance(each)) return;
        throw new Exception("not refused with " + kind.getSimpleName(), error);
    }

    private String card() throws Exception {
        String shown = A2A.getAgentCard(input.cardBase()).supportedInterfaces().stream()
                .map(each -> each.protocolBinding() + " " + each.protocolVersion())
                .collect(Collectors.joining(", "));
        if (!shown.contains(input.binding() + " 1.0")) throw new Failure(shown);
        return shown;
    }

    private String send() throws Exception {
        Task task = session.send("hello Ada", Session.Ask.PLAIN);
        List<String> seen = List.of(stateOf(task), artifactText(task), statusText(task));
        equal(seen, List.of("TASK_STATE_COMPLETED", "Hello, Ada", "Said hello"), "task");
        return stateOf(task);
    }

    private String poll() throws Exception {
        Task task = session.send("hold", Session.Ask.NOW);
        if (!Session.running(task)) throw new Failure("answered " + stateOf(task));
        Task again = session.send("go", new Session.Ask(task, null, true));
        Task done = session.settle(again);
        List<String> seen = List.of(done.id(), stateOf(done), artifactText(done));
        equal(seen, List.of(task.id(), "TASK_STATE_COMPLETED", "before after"), "task");
        return stateOf(task) + ", then " + stateOf(done);
    }

    private String stream() throws Exception {
        Session.Told told = session.follow(session.stream("hello Ada"));
        List<String> seen = List.of(stateOf(told.task()), artifactText(told.task()));
        equal(seen, List.of("TASK_STATE_COMPLETED", "Hello, Ada"), "stream");
        return told.frames() + " frames";
    }

    private String resubscribe() throws Exception {
        Session.Told dropped = session.follow(
                session.stream("hold"), told -> artifactText(told.task()).equals("before "));
        Session.Told told = session.follow(session.subscribe(dropped.task().id()), seen -> {
            if (seen.frames() == 1) release(seen.task());
            return false;
        });
        List<String> seen = List.of(told.task().id(), stateOf(told.task()), artifactText(told.task()));
        equal(seen, List.of(dropped.task().id(), "TASK_STATE_COMPLETED", "before after"), "subscription");
        return told.frames() + " frames after the drop";
    }

    private void release(Task task) {
        try {
            session.send("go", new Session.Ask(task, null, true));
        } catch (Exception error) {
            throw new IllegalStateException("the task could not be released", error);
        }
    }

    private String get() throws Exception {
        Task sent = session.send("hello Ada", Session.Ask.PLAIN);
        Task none = session.get(sent.id(), 0);
        Task one = session.get(sent.id(), 1);
        equal(List.of(none.history().size(), one.history().size()), List.of(0, 1), "history");
        equal(List.of(one.id(), artifactText(one)), List.of(sent.id(), "Hello, Ada"), "task");
        return stateOf(one);
    }

    /** With an empty tenant, because the client puts an absent one into a field that takes no null. */
    private static ListTasksParams.Builder listing(String contextId) {
        return ListTasksParams.builder().tenant("").contextId(contextId);
    }

    private String list() throws Exception {
        Task first = session.send("hello A", Session.Ask.PLAIN);
        String contextId = first.contextId();
        Task second = session.send("hello B", new Session.Ask(null, contextId, false));
        ListTasksResult found = session.list(listing(contextId).build());
        List<String> seen = found.tasks().stream()
                .flatMap(task -> Stream.of(task.id(), artifactText(task)))
                .toList();
        equal(seen, List.of(second.id(), "", first.id(), ""), "list");
        return found.totalSize() + " tasks";
    }

    private String page() throws Exception {
        String contextId = session.send("hello A", Session.Ask.PLAIN).contextId();
        session.send("hello B", new Session.Ask(null, contextId, false));
        List<String> texts = new ArrayList<>();
        String token = null;
        for (int page = 0; page < 2; page++) {
            ListTasksParams.Builder query = listing(contextId).pageSize(1).includeArtifacts(true);
            if (token != null) query.pageToken(token);
            ListTasksResult answer = session.list(query.build());
            answer.tasks().forEach(task -> texts.add(artifactText(task)));
            token = answer.nextPageToken();
        }
        // Its HTTP+JSON transport takes an empty one for none.
        texts.add(Objects.requireNonNullElse(token, ""));
        equal(texts, List.of("Hello, B", "Hello, A", ""), "pages");
        return "2 pages";
    }

    private String cancel() throws Exception {
        Task task = session.send("wait", Session.Ask.NOW);
        Task canceled = session.cancel(task.id());
        List<String> seen = List.of(stateOf(canceled), stateOf(session.get(task.id(), null)));
        equal(seen, List.of("TASK_STATE_CANCELED", "TASK_STATE_CANCELED"), "states");
        return stateOf(canceled);
    }

    private String errors() throws Exception {
        isCausedBy(refusal(() -> session.get("no-such-task", null)), TaskNotFoundError.class);
        Task done = session.settle(session.send("hello Ada", Session.Ask.PLAIN));
        isCausedBy(refusal(() -> session.cancel(done.id())), TaskNotCancelableError.class);
        return "refused";
    }

    private String finishedStream() throws Exception {
        Task done = session.settle(session.send("hello Ada", Session.Ask.PLAIN));
        Callable<Session.Told> subscription = () -> session.follow(session.subscribe(done.id()));
        if (input.edge().equals("a2a")) {
            isCausedBy(refusal(subscription), UnsupportedOperationError.class);
            return "refused";
        }
        Session.Told told = subscription.call();
        equal(List.of(told.frames(), stateOf(told.task())), List.of(1, "TASK_STATE_COMPLETED"), "subscription");
        return "shown";
    }

    private String followUp() throws Exception {
        Task asked = session.settle(session.send("ask", Session.Ask.PLAIN));
        List<String> question = List.of(stateOf(asked), statusText(asked));
        equal(question, List.of("TASK_STATE_INPUT_REQUIRED", "Which colour?"), "question");
        Task answered = session.settle(session.send("blue", new Session.Ask(asked, null, false)));
        List<String> seen =
                List.of(answered.id(), answered.contextId(), stateOf(answered), statusText(answered));
        equal(seen, List.of(asked.id(), asked.contextId(), "TASK_STATE_COMPLETED", "You said blue"), "answer");
        return statusText(answered);
    }

    private String large() throws Exception {
        Session.Told told = session.follow(session.stream("large"));
        for (Task task : List.of(told.task(), session.get(told.task().id(), null))) {
            byte[] octets = artifactText(task).getBytes(StandardCharsets.UTF_8);
            String sha256 = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(octets));
            equal(new Main.Fingerprint(octets.length, sha256), input.large(), "artifact");
        }
        if (told.chunks() < 6) throw new Failure("only " + told.chunks() + " chunks");
        return told.chunks() + " chunks";
    }

    private String quiet() throws Exception {
        Session.Told told = session.follow(session.stream("quiet"));
        equal(stateOf(told.task()), "TASK_STATE_COMPLETED", "state");
        return told.frames() + " frames";
    }
}
