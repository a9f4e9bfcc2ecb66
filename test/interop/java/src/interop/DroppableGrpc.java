package interop;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.MethodDescriptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;

/** A channel, and a handle on the last stream that was opened on it: the client has no call that leaves a stream. */
final class DroppableGrpc implements ClientInterceptor {
    private volatile ClientCall<?, ?> lastStream;

    Channel channel(String address) {
        return ClientInterceptors.intercept(NettyChannelBuilder.forTarget(address).usePlaintext().build(), this);
    }

    void dropStream() {
        ClientCall<?, ?> stream = lastStream;
        if (stream != null) stream.cancel("dropped", null);
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        ClientCall<Q, A> call = next.newCall(method, options);
        if (method.getType() == MethodDescriptor.MethodType.SERVER_STREAMING) lastStream = call;
        return call;
    }
}
