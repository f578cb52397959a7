-- needs: bob/thread.sql, positions/state.sql
-- Smoke in a line of sight of bob (Band of Brothers): 48.0; it counts even at a vertex.

create or replace function bob._smoke_steps(state positions.state, thread bob.thread)
returns setof bob.obstacle
language sql stable parallel safe rows 1
as $$
  select
    met.mark,
    '48.0',
    hex.label,
    case
      when marker.kind = 'smoke' and row_number() over (partition by marker.kind order by met.mark, hex.label) = 1
        then '-1'
      else 'passes'
    end,
    case
      when marker.kind = 'smoke' then format('smoke in %s weakens fire once, and is no Hindrance', hex.label)
      else format('dispersed smoke in %s', hex.label)
    end,
    null,
    0
  from public.marker
  inner join public.hex on hex.map_id = state.map_id and hex.q = marker.q and hex.r = marker.r
  cross join lateral (
    select min(place.mark) as mark
    from (
      select bob._mark(line.enter, line.den) as mark
      from lattice.line(thread.q, thread.r, thread.to_q, thread.to_r) as line
      where line.kind in ('hex', 'spine', 'touch')
        and ((line.q1, line.r1) = (marker.q, marker.r) or (line.q2, line.r2) = (marker.q, marker.r))
      union all
      select case when (marker.q, marker.r) = (thread.q, thread.r) then 0 else 1e60 end
      where (marker.q, marker.r) in ((thread.q, thread.r), (thread.to_q, thread.to_r))
    ) as place
  ) as met
  where marker.position_id = state.position_id
    and marker.kind in ('smoke', 'dispersed_smoke')
    and met.mark is not null
    -- 55.2: there is no smoke in the deluge
    and state.conditions ->> 'weather' is distinct from 'monsoon'
$$;

comment on function bob._smoke_steps(positions.state, bob.thread) is
'Smoke that a thread meets, its ends included (48.0).';
