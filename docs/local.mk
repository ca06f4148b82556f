# SPDX-License-Identifier: BSD-2-Clause
#
# Man pages.  A page describes all the calls of an object and is installed
# under the name of each call that its NAME section has.

dist_man_MANS += \
	%D%/man/pier-copy.1 \
	%D%/man/pier-counters.1 \
	%D%/man/pier-cpp.7 \
	%D%/man/pier-desc.1 \
	%D%/man/pier-doctor.1 \
	%D%/man/pier-exchange.1 \
	%D%/man/pier-info.1 \
	%D%/man/pier-perf.1 \
	%D%/man/pier-ping.1 \
	%D%/man/pier-run.1 \
	%D%/man/pier.1 \
	%D%/man/pier.7 \
	%D%/man/pier_args.3 \
	%D%/man/pier_buf.3 \
	%D%/man/pier_buf_array.3 \
	%D%/man/pier_buf_pool.3 \
	%D%/man/pier_cm.3 \
	%D%/man/pier_comch.3 \
	%D%/man/pier_comch_data.3 \
	%D%/man/pier_comch_request.3 \
	%D%/man/pier_conn.3 \
	%D%/man/pier_copy.3 \
	%D%/man/pier_counters.3 \
	%D%/man/pier_ctx.3 \
	%D%/man/pier_desc.3 \
	%D%/man/pier_dev.3 \
	%D%/man/pier_dma.3 \
	%D%/man/pier_dma_export.3 \
	%D%/man/pier_error.3 \
	%D%/man/pier_exchange.3 \
	%D%/man/pier_func.3 \
	%D%/man/pier_graph.3 \
	%D%/man/pier_host.3 \
	%D%/man/pier_log.3 \
	%D%/man/pier_memory.7 \
	%D%/man/pier_mmap.3 \
	%D%/man/pier_pe.3 \
	%D%/man/pier_rdma.3 \
	%D%/man/pier_rendezvous.3 \
	%D%/man/pier_rep.3 \
	%D%/man/pier_service.3 \
	%D%/man/pier_sha.3 \
	%D%/man/pier_sync_event.3 \
	%D%/man/pier_task.3 \
	%D%/man/pier_text.3 \
	%D%/man/pier_uv.3 \
	%D%/man/pier_verbs.3 \
	%D%/man/pier_version.3 \
	# end, sorted

# README.md and these name each other, and man pages, by relative paths.
docsdir = $(docdir)/docs
dist_docs_DATA = \
	%D%/bench-net.svg \
	%D%/bench-sizes.svg \
	%D%/benchmarks.md \
	%D%/ci.md \
	%D%/connections.md \
	%D%/copy.md \
	%D%/coverage.md \
	%D%/cpp.md \
	%D%/decisions.md \
	%D%/doca-2.0.md \
	%D%/doca-calls.md \
	%D%/doca-rules.md \
	%D%/from-doca.md \
	%D%/from-libfabric.md \
	%D%/from-mpi.md \
	%D%/from-ucx.md \
	%D%/from-verbs.md \
	%D%/from-zeromq.md \
	%D%/hardware.md \
	%D%/packages.md \
	%D%/python.md \
	%D%/release.md \
	%D%/rxe.md \
	%D%/same-host.md \
	%D%/security.md \
	%D%/style.md \
	%D%/tutorial.md \
	%D%/verbs-library.md \
	%D%/vm.md \
	%D%/watching.md \
	# end, sorted

docsmandir = $(docsdir)/man
docsman_DATA = $(dist_man_MANS)

# The manual as HTML.  Its index is written last, and stands for all of it.
EXTRA_DIST += \
	%D%/html.sh \
	# end, sorted
if HTML
htmlpagesdir = $(docdir)/html
htmlpages_DATA = %D%/html/index.html $(html_pages)
html_pages = $(patsubst %D%/man/%,%D%/html/%.html,$(dist_man_MANS))
CLEANFILES += $(htmlpages_DATA)
%D%/html/index.html: %D%/html.sh $(dist_man_MANS)
	$(AM_V_GEN)$(SHELL) $(srcdir)/%D%/html.sh $(MANDOC) %D%/html \
		$(addprefix $(srcdir)/,$(dist_man_MANS))
$(html_pages): %D%/html/index.html
endif

# Print "PAGE CALL" for every call that is not its page's own name.
man_calls = for page in $(dist_man_MANS); do \
	case $$page in *.3) ;; *) continue ;; esac; \
	$(AWK) -v page=`basename $$page` ' \
		/^\.Sh/ { name = $$2 == "NAME" } \
		name && $$1 == ".Nm" && $$2 ".3" != page \
			{ print page, $$2 ".3" }' $(srcdir)/$$page; \
	done

# The hook of the installation runs it.
install-page-links:
	@$(man_calls) | while read -r page call; do \
		ln -sf $$page "$(DESTDIR)$(man3dir)/$$call" || exit; \
	done

uninstall-hook:
	@$(man_calls) | while read -r page call; do \
		rm -f "$(DESTDIR)$(man3dir)/$$call"; \
	done
