# nix run 'git+file:.?dir=packaging/nix' from a checkout.
{
  description = "agent-bash, the shell runtime for coding agents";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      packageFor = pkgs: pkgs.rustPlatform.buildRustPackage {
        pname = "agent-bash";
        version = "0.1.0";
        src = ../..;
        cargoLock.lockFile = ../../Cargo.lock;
        cargoBuildFlags = [ "--package" "agent-bash-cli" ];
        # The tests need containers, agents and terminals, which are missing in a build sandbox of Nix.
        doCheck = false;
        nativeBuildInputs = [ pkgs.installShellFiles ];
        postInstall = ''
          mkdir man
          $out/bin/agent-bash man --out man
          installManPage man/*.1
          installShellCompletion --cmd agent-bash \
            --bash <($out/bin/agent-bash completions bash) \
            --zsh <($out/bin/agent-bash completions zsh) \
            --fish <($out/bin/agent-bash completions fish)
        '';
        meta = {
          homepage = "https://example.invalid/agent-bash";
          license = with pkgs.lib.licenses; [ mit asl20 ];
          mainProgram = "agent-bash";
          platforms = systems;
        };
      };
    in
    {
      packages = nixpkgs.lib.genAttrs systems
        (system: { default = packageFor nixpkgs.legacyPackages.${system}; });
    };
}
